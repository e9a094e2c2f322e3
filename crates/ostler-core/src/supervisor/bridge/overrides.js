// Puts our question in the place of the page's dialog functions. What the page can see of it is kept as it was: the
// property, the name, the length. Whatever we do not carry goes to the native function, which decides for itself what a
// leaving or detached document gets.
const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
const { toString: sourceOf } = Function.prototype;
const { slice } = String.prototype;
const { get: currentEvent } = getOwnPropertyDescriptor(window, "event") ?? {};
const { location } = window;

const given = (value) => `${value}`;
const optional = (value) => (value === undefined ? "" : given(value));
// What each function makes of its arguments, as the native one does, and of the answer.
const functions = {
  __proto__: null,
  alert: { texts: (args) => (args.length ? [given(args[0])] : []), result: () => undefined },
  confirm: { texts: (args) => [optional(args[0])], result: (answer) => answer.accept },
  prompt: {
    texts: (args) => [optional(args[0]), optional(args[1])],
    result: (answer, texts) => (answer.accept ? (answer.text ?? texts[1]) : null),
  },
  print: { texts: () => [], result: () => undefined },
};

// A native dialog never opens then, and the native function returns at once.
const leaving = () => currentEvent && apply(currentEvent, window, [])?.type === "beforeunload";
// Chromium shows no more of a message; of an address and of what a prompt offers we show no more, and the page gets all
// of it. The supervisor takes nothing that is longer.
const shown = (text, most) => apply(slice, text ?? "", [0, most]);

let asked = 0;
for (const type of ["alert", "confirm", "prompt", "print"]) {
  const native = window[type];
  // A page's own function is its own business, and one that we have put there before still works.
  if (typeof native !== "function" || apply(sourceOf, native, []) !== `function ${type}() { [native code] }`) continue;
  const { texts: read, result } = functions[type];
  const handler = {
    __proto__: null,
    apply(_target, self, args) {
      if (leaving()) return apply(native, self, args);
      const texts = read(args);
      const question = {
        __proto__: null,
        // So that an answer that comes too late is not taken for that of the next question.
        number: ++asked,
        type,
        message: shown(texts[0], 10240),
        defaultPrompt: shown(texts[1], 50000),
        url: shown(location.href, 10240),
      };
      const answer = ostlerBridgeAsk(question);
      return answer === null || answer.native ? apply(native, self, texts) : result(answer, texts);
    },
  };
  defineProperty(window, type, { ...getOwnPropertyDescriptor(window, type), value: new Proxy(native, handler) });
}
