// Waits until what the wheel moves at a place stands still, and returns how far it went.
(x, y) => new Promise(done => {
  const scrolls = node => {
    const style = getComputedStyle(node);
    return node.scrollHeight > node.clientHeight && /auto|scroll|overlay/.test(style.overflowY)
      || node.scrollWidth > node.clientWidth && /auto|scroll|overlay/.test(style.overflowX);
  };
  const page = document.scrollingElement ?? document.documentElement;
  let box = document.elementFromPoint(x, y);
  const framed = ['iframe', 'frame', 'object', 'embed'].includes(box?.localName);
  while (box && box !== page && !(scrolls(box) && box !== document.body)) box = box.parentElement ?? box.getRootNode().host;
  const boxes = [...new Set([box ?? page, page])];
  const before = boxes.map(node => [node.scrollLeft, node.scrollTop]);
  const finish = () => {
    clearTimeout(quiet);
    clearTimeout(late);
    removeEventListener('wheel', turned, true);
    removeEventListener('scroll', moving, true);
    removeEventListener('scrollend', finish, true);
    const moved = boxes.findIndex((node, i) => node.scrollLeft !== before[i][0] || node.scrollTop !== before[i][1]);
    const [node, from] = [boxes[Math.max(moved, 0)], before[Math.max(moved, 0)]];
    done({
      moved_x: Math.round(node.scrollLeft - from[0]),
      moved_y: Math.round(node.scrollTop - from[1]),
      above: Math.round(node.scrollTop),
      below: Math.max(0, Math.round(node.scrollHeight - node.clientHeight - node.scrollTop)),
    });
  };
  // A frame takes the wheel for itself, and nothing of it is heard here. A hidden tab takes its time: it may draw no
  // more than once a second.
  const quiet = setTimeout(finish, framed ? 300 : 4000);
  const late = setTimeout(finish, 8000);
  let moves = false;
  // What is at its end does not move within the next drawings, and so does not tell when it has come to rest either.
  const afterDrawing = count => requestAnimationFrame(() => {
    if (!moves) count ? afterDrawing(count - 1) : finish();
  });
  const turned = () => {
    clearTimeout(quiet);
    afterDrawing(3);
  };
  const moving = () => { moves = true; };
  addEventListener('wheel', turned, { capture: true, once: true, passive: true });
  addEventListener('scroll', moving, true);
  addEventListener('scrollend', finish, true);
})
