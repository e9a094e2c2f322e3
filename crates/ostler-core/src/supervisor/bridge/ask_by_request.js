// Asks by a synchronous request to a host that does not exist: the supervisor intercepts it and answers it later.
// An answer from anybody else, or none, leaves the question to the native dialog. ASCII only, because that is what
// every backend passes on unchanged.
const { parse, stringify } = JSON;
const { prototype: request } = XMLHttpRequest;
const { open, send } = request;
const { get: responseText } = Reflect.getOwnPropertyDescriptor(request, "responseText");
const { get: status } = Reflect.getOwnPropertyDescriptor(request, "status");
const { apply: call } = Reflect;
const { charCodeAt, replace } = String.prototype;
const { toString: inBase } = Number.prototype;
const escape = (unit) => "\\u" + call(replace, call(inBase, 0x10000 + call(charCodeAt, unit, [0]), [16]), [/^1/, ""]);

function ostlerBridgeAsk(question) {
  try {
    const asking = new XMLHttpRequest();
    call(open, asking, ["POST", "https://ostler-bridge.invalid/", false]);
    call(send, asking, [call(replace, stringify(question), [/[^ -~]/g, escape])]);
    return call(status, asking, []) === 200 ? parse(call(responseText, asking, [])) : null;
  } catch {
    return null;
  }
}
