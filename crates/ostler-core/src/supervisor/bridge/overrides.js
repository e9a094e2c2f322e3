// Puts our question in the place of the page's dialog functions. What the page can see of it is kept as it was: the
// property, the name, the length. Whatever we do not carry goes to the native function, which decides for itself what a
// leaving or detached document gets.
//
// The page runs after this and can put anything in the place of anything: whatever is called later is fetched here, and
// no object of ours is looked into where it might not have the property itself.
const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
const { toString: sourceOf } = Function.prototype;
const { slice } = String.prototype;
const { get: currentEvent } = getOwnPropertyDescriptor(window, "event") ?? {};
const { get: typeOfEvent } = getOwnPropertyDescriptor(Event.prototype, "type");
const { location } = window;

const at = (list, place) => (place < list.length ? list[place] : undefined);
const given = (value) => `${value}`;
const optional = (value) => (value === undefined ? "" : given(value));

// A native dialog never opens then, and the native function returns at once.
const leaving = () => {
  const event = currentEvent && apply(currentEvent, window, []);
  return event ? apply(typeOfEvent, event, []) === "beforeunload" : false;
};
// Chromium shows no more of a message; of an address and of what a prompt offers we show no more, and the page gets all
// of it. The supervisor takes nothing that is longer.
const shown = (text, most) => apply(slice, text ?? "", [0, most]);

let asked = 0;

// `read` is what the function makes of its arguments, as the native one does, and `result` what it makes of the answer.
function replace(type, read, result) {
  const native = window[type];
  // A page's own function is its own business, and one that we have put there before still works.
  if (typeof native !== "function" || apply(sourceOf, native, []) !== `function ${type}() { [native code] }`) return;
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
        message: shown(at(texts, 0), 10240),
        defaultPrompt: shown(at(texts, 1), 50000),
        url: shown(location.href, 10240),
      };
      const answer = ostlerBridgeAsk(question);
      return answer === null || answer.native ? apply(native, self, texts) : result(answer, texts);
    },
  };
  const property = getOwnPropertyDescriptor(window, type);
  defineProperty(window, type, { __proto__: null, ...property, value: new Proxy(native, handler) });
}

replace("alert", (args) => (args.length ? [given(args[0])] : []), () => undefined);
replace("confirm", (args) => [optional(at(args, 0))], (answer) => answer.accept);
replace(
  "prompt",
  (args) => [optional(at(args, 0)), optional(at(args, 1))],
  (answer, texts) => (answer.accept ? (answer.text ?? texts[1]) : null),
);
replace("print", () => [], () => undefined);
