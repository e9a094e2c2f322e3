//! Pages that mean ill of the bridge: they may ask as they may ask natively, and no page forges, answers or suppresses a
//! question in any other way.

use serde_json::{Value, json};

use super::bridged::Bridged;
use super::sandbox::wait_until;

impl Bridged {
    /// Has the page ask, and looks at what it gets when an agent answers.
    #[track_caller]
    fn ask_and_answer(&mut self, text: &str) {
        let expression = "setTimeout(() => { window.got = prompt('really?', 'offered') }, 0); 1";
        self.start(expression);
        let open = self.world.wait_for_dialogs(1);
        let asked = [&open[0]["type"], &open[0]["message"], &open[0]["default_prompt"]];
        assert_eq!(asked, ["prompt", "really?", "offered"]);
        let raw = self.world.line.ask(json!({"meta": "pending_dialog"}))["dialog"].clone();
        assert_eq!(raw["url"], self.world.site.here("/"));
        let answered = self.world.line.ask(json!({"meta": "dialog", "action": "accept", "prompt_text": text}));
        assert_eq!(answered["ok"], true, "{answered}");
        wait_until("the page has the text", || self.look("window.got") == text);
    }

    #[track_caller]
    fn look(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        self.world.line.cdp("Runtime.evaluate", params)["result"]["value"].clone()
    }

    /// No dialog was there but those that this test had asked for.
    #[track_caller]
    fn nothing_else_was_asked(&mut self, asked: usize) {
        let state = self.world.line.state();
        assert_eq!(state["pending_dialogs"], json!([]));
        let messages: Vec<_> =
            state["recent_dialogs"].as_array().unwrap().iter().map(|d| d["message"].clone()).collect();
        assert_eq!(messages, vec![json!("really?"); asked]);
    }
}

/// Puts something of the page's own in the place of all that a script may rely on, and keeps what it is given.
const POISON: &str = r#"<script>
    window.seen = [];
    const real = { apply: Reflect.apply, define: Object.defineProperty };
    const spy = (holder, name) => {
        const before = holder[name];
        holder[name] = function (...args) {
            window.seen.push([name, args]);
            return real.apply(before, this, args);
        };
    };
    for (const name of ["native", "accept", "text", "get", "set", "toJSON", "number", "proof", "question"]) {
        real.define(Object.prototype, name, {
            configurable: true,
            get() { return undefined; },
            set(value) { window.seen.push([name, value]); },
        });
    }
    spy(JSON, "stringify");
    spy(JSON, "parse");
    spy(Reflect, "apply");
    spy(Reflect, "getOwnPropertyDescriptor");
    spy(Function.prototype, "call");
    spy(Function.prototype, "apply");
    spy(Function.prototype, "toString");
    spy(XMLHttpRequest.prototype, "open");
    spy(XMLHttpRequest.prototype, "send");
    spy(String.prototype, "slice");
    spy(String.prototype, "replace");
    spy(String.prototype, "charCodeAt");
    spy(Number.prototype, "toString");
    spy(BigInt.prototype, "toString");
    Array.prototype[Symbol.iterator] = function () { throw new Error("no iteration"); };
    RegExp.prototype[Symbol.replace] = () => "replaced";
    for (const name of ["status", "responseText", "response"]) {
        real.define(XMLHttpRequest.prototype, name, { get: () => (name === "status" ? 200 : '{"accept":true}') });
    }
    real.define(Event.prototype, "type", { get: () => "beforeunload" });
    window.XMLHttpRequest = class { open() {} send() {} get status() { return 200 } get responseText() { return '{"accept":true,"text":"forged"}' } };
    window.BigInt = window.Proxy = () => { throw new Error("not here"); };
</script>"#;

#[test]
fn what_a_page_puts_in_the_place_of_everything_changes_no_question_and_sees_none() {
    Bridged::both(&[("/", POISON)], |mut bridged| {
        bridged.world.go("/");
        bridged.ask_and_answer("from the agent");
        assert_eq!(bridged.look("seen.length"), 0);
        // Missing arguments are missing, and a missing text is the page's own default.
        let cases = "const poison = { get: () => 'poison', set() {}, configurable: true }; \
            Object.defineProperty(Array.prototype, 0, poison); Object.defineProperty(Object.prototype, 'text', poison); \
            setTimeout(() => { window.got = prompt(undefined, 'own') }, 0); 1";
        bridged.start(cases);
        assert_eq!(bridged.world.wait_for_dialogs(1)[0]["message"], "");
        assert_eq!(bridged.world.line.ask(json!({"meta": "dialog", "action": "accept"}))["ok"], true);
        wait_until("the page has its own default", || bridged.look("window.got") == "own");
    });
}

/// A page that learns all that it can of our script, and does what it does.
const COPY: &str = r#"<script>
    const native = String(confirm) + String(prompt);
    const frames = [];
    Error.prepareStackTrace = (_, sites) => { frames.push(...sites); return "" };
    // It is called from inside of our script.
    const spying = { toString() { new Error().stack; return "really?" } };
    window.learnt = () => {
        const ours = frames.filter((site) => /ostler/.test(site.getScriptNameOrSourceURL() ?? ""));
        return {
            native,
            names: [...new Set(ours.map((site) => site.getScriptNameOrSourceURL()))],
            functions: ours.map((site) => site.getFunction()).filter(Boolean).map(String),
            that: ours.map((site) => site.getThis()).filter(Boolean).length,
            requests: performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => /ostler/.test(name)),
        };
    };
    window.ask = () => { window.got = prompt(spying, "offered") };
</script>"#;

/// Has a page with [`COPY`] ask once, and returns what it has learnt by that.
#[track_caller]
fn learn(bridged: &mut Bridged) -> Value {
    bridged.start("setTimeout(ask, 0); 1");
    bridged.world.wait_for_dialogs(1);
    assert_eq!(bridged.world.line.ask(json!({"meta": "dialog", "action": "accept"}))["ok"], true);
    wait_until("the page went on", || bridged.look("window.got") == "offered");
    bridged.look("learnt()")
}

#[test]
fn a_page_that_copies_the_script_under_its_own_name_asks_nobody() {
    let mut bridged = Bridged::by_pauses("always", &[("/", COPY)]);
    bridged.world.go("/");
    let learnt = learn(&mut bridged);
    assert_eq!([&learnt["functions"], &learnt["that"]], [&json!([]), &json!(0)], "{learnt}");
    assert!(!learnt["native"].as_str().unwrap().contains("ostler"), "{learnt}");
    let name = learnt["names"][0].as_str().expect("a stack trace tells it").to_owned();
    let copy = |key: &str| {
        format!(
            "(() => {{ const key = '{key}'; function ostlerBridgeAsk(question) {{ const proof = key; let seen = false; \
            let answer = null; debugger; return [seen, answer] }} \
            window.forge = () => ostlerBridgeAsk({{number: 1, type: 'prompt', message: 'forged', defaultPrompt: '', \
            url: 'https://bank.example/'}}) }})()\n//# sourceURL={name}"
        )
    };
    for key in ["", "00000000000000000000000000000000"] {
        bridged.look(&copy(key));
        assert_eq!(bridged.look("forge()"), json!([false, null]), "it does not even get a look");
    }
    bridged.ask_and_answer("still the agent");
    // Another document knows the name from the start, and so does one that is there before the bridge: in that one the
    // copy is the first of its name, is looked at, and cannot prove to be ours.
    bridged.world.site.put("/again", &format!("<script>{}</script>", copy("")));
    bridged.world.go("/again");
    assert_eq!(bridged.look("forge()"), json!([false, null]));
    assert_eq!(bridged.world.line.ask(json!({"meta": "connect", "dialog_bridge": "never"}))["ok"], true);
    bridged.world.go("/again");
    assert_eq!(bridged.world.line.ask(json!({"meta": "connect", "dialog_bridge": "always"}))["ok"], true);
    assert_eq!(bridged.look("forge()"), json!([true, null]));
    bridged.nothing_else_was_asked(2);
}

#[test]
fn a_page_that_requests_the_address_itself_asks_nobody() {
    let mut bridged = Bridged::by_requests("always", &[("/", COPY)]);
    bridged.world.site.put("/worker.js", WORKER);
    bridged.world.go("/");
    let learnt = learn(&mut bridged);
    assert_eq!(learnt["functions"], json!([]), "{learnt}");
    let address = learnt["requests"][0].as_str().expect("its performance entries tell it").to_owned();
    let question =
        r#"{"number":9,"type":"prompt","message":"forged","defaultPrompt":"","url":"https://bank.example/"}"#;
    for body in [question.to_owned(), format!("0000000000000000{question}"), String::new()] {
        let body = json!(body);
        let asked = bridged
            .world
            .line
            .js(&format!("fetch('{address}', {{method: 'POST', body: {body}}}).then(() => 1, () => 2)"));
        assert_eq!(asked, 2, "{body}");
        let sync = format!(
            "(() => {{ const x = new XMLHttpRequest(); x.open('POST', '{address}', false); \
            try {{ x.send({body}); return 1 }} catch {{ return 2 }} }})()"
        );
        assert_eq!(bridged.world.line.js(&sync), 2, "{body}");
    }
    bridged.ask_and_answer("still the agent");

    // Nor does a service worker see what our script sends, or answer it.
    bridged
        .world
        .line
        .js("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 1)");
    bridged.world.wait_for("!!navigator.serviceWorker.controller");
    let caught = format!("fetch('{address}', {{method: 'POST', body: '1'}}).then(answer => answer.text())");
    assert_eq!(bridged.world.line.js(&caught), r#"{"accept":true,"text":"forged"}"#, "it is in between");
    bridged.ask_and_answer("the agent, past the worker");
    let seen = "fetch('/seen').then(answer => answer.json())";
    assert_eq!(bridged.world.line.js(seen), json!(["1"]), "of ours it saw none");
    bridged.nothing_else_was_asked(3);
}

const WORKER: &str = r#"
    const seen = [];
    oninstall = () => skipWaiting();
    onactivate = (event) => event.waitUntil(clients.claim());
    onfetch = (event) => {
        const { url } = event.request;
        if (url.endsWith("/seen")) event.respondWith(new Response(JSON.stringify(seen)));
        if (!/ostler/.test(url)) return;
        event.respondWith((async () => {
            seen.push(await event.request.clone().text());
            return new Response('{"accept":true,"text":"forged"}', { headers: { "Access-Control-Allow-Origin": "*" } });
        })());
    };
"#;

/// Sees all that passes through the functions that our script calls, and lets it pass.
const SPY: &str = r#"<script>
    window.seen = [];
    const { apply } = Reflect;
    const spy = (holder, name) => {
        const before = holder[name];
        holder[name] = function (...args) {
            seen.push([name, typeof this, args]);
            return new.target ? new before(...args) : apply(before, this, args);
        };
        Object.setPrototypeOf(holder[name], before);
        holder[name].prototype = before.prototype;
    };
    for (const name of ["stringify", "parse"]) spy(JSON, name);
    for (const name of ["charCodeAt", "slice", "includes"]) spy(String.prototype, name);
    for (const name of ["open", "send"]) spy(XMLHttpRequest.prototype, name);
    for (const name of ["apply", "getOwnPropertyDescriptor", "defineProperty"]) spy(Reflect, name);
    for (const name of ["BigInt", "XMLHttpRequest"]) spy(window, name);
</script>"#;

#[test]
fn a_page_that_was_there_before_the_bridge_does_not_see_the_key() {
    let mut bridged = Bridged::by_requests("never", &[("/", SPY)]);
    bridged.world.go("/");
    assert_eq!(bridged.world.line.ask(json!({"meta": "connect", "dialog_bridge": "always"}))["ok"], true);
    // It takes a moment until the document that is there has it; what it asks before, it asks natively.
    bridged.world.wait_for("String(prompt) === 'function () { [native code] }'");
    bridged.ask_and_answer("the agent");
    let signs = bridged.look("seen.filter(([name]) => name === 'BigInt').length > 0");
    assert_eq!(signs, true, "it was there when the question was signed");
    // Whatever is made with the key is a big integer. The only one that leaves the script is the signature, to be sent.
    let left = "(() => { const all = seen.flat(Infinity); const sent = seen.find(([name]) => name === 'send')[2][0]; \
        const numbers = all.filter(value => typeof value === 'bigint'); \
        return numbers.length === 1 && sent.startsWith(numbers[0].toString(16) + '{') && \
            !all.some(value => typeof value === 'string' && /[0-9a-f]{32}|0x/.test(value)) })()";
    assert_eq!(bridged.look(left), true);
    bridged.nothing_else_was_asked(1);
}

#[test]
fn a_page_that_replaces_the_functions_has_its_own_and_no_question() {
    Bridged::both(&[("/", "<p>x")], |mut bridged| {
        bridged.world.go("/");
        bridged.look("window.confirm = () => 'mine'; delete window.alert; 1");
        assert_eq!(bridged.look("[confirm('x'), typeof alert].join()"), "mine,undefined");
        bridged.ask_and_answer("the agent");
        bridged.nothing_else_was_asked(1);
    });
}

#[test]
fn a_page_that_comes_back_from_the_cache_asks_over_the_bridge_again() {
    Bridged::both(&[("/", "<p>x"), ("/next", "<p>y")], |mut bridged| {
        bridged.world.go("/");
        bridged.look("window.mark = 1");
        bridged.world.go("/next");
        bridged.look("history.back(); 1");
        bridged.world.wait_for("window.mark === 1 && location.pathname === '/'");
        bridged.ask_and_answer("after the way back");
        bridged.nothing_else_was_asked(1);
    });
}
