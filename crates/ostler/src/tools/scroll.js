// Waits until what the wheel moves at a place stands still, and returns how far it went.
(x, y) => new Promise(done => {
  // What is in a form or a document may be named like a property of it; its prototypes know better.
  const own = (node, name) => {
    const value = Reflect.get(Object.getPrototypeOf(node), name, node);
    return typeof value === 'function' ? value.bind(node) : value;
  };
  const scrolls = node => {
    const style = getComputedStyle(node);
    return own(node, 'scrollHeight') > own(node, 'clientHeight') && /auto|scroll|overlay/.test(style.overflowY)
      || own(node, 'scrollWidth') > own(node, 'clientWidth') && /auto|scroll|overlay/.test(style.overflowX);
  };
  const page = own(document, 'scrollingElement') ?? own(document, 'documentElement');
  const body = own(document, 'body');
  let box = own(document, 'elementFromPoint')(x, y);
  const framed = box !== null && ['iframe', 'frame', 'object', 'embed'].includes(own(box, 'localName'));
  while (box && box !== page && !(scrolls(box) && box !== body)) box = own(box, 'parentElement') ?? own(box, 'getRootNode')().host;
  const boxes = [...new Set([box ?? page, page])];
  const before = boxes.map(node => [own(node, 'scrollLeft'), own(node, 'scrollTop')]);
  const finish = () => {
    clearTimeout(quiet);
    clearTimeout(late);
    removeEventListener('wheel', turned, true);
    removeEventListener('scroll', moving, true);
    removeEventListener('scrollend', finish, true);
    const moved = boxes.findIndex((node, i) => own(node, 'scrollLeft') !== before[i][0] || own(node, 'scrollTop') !== before[i][1]);
    const [node, from] = [boxes[Math.max(moved, 0)], before[Math.max(moved, 0)]];
    done({
      moved_x: Math.round(own(node, 'scrollLeft') - from[0]),
      moved_y: Math.round(own(node, 'scrollTop') - from[1]),
      above: Math.round(own(node, 'scrollTop')),
      below: Math.max(0, Math.round(own(node, 'scrollHeight') - own(node, 'clientHeight') - own(node, 'scrollTop'))),
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
