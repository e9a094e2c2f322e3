// Playwright and ostler work in the same tabs of one Chromium. Without a dialog listener Playwright dismisses every
// native dialog at once; under ostler's bridge none opens, and the page gets the answer that an agent takes two seconds
// to think of.
//
// Needs `OSTLER`, the program, and the package; `scripts/test` brings both. `OSTLER_PROOFS=full` does it a hundred times.

const assert = require("node:assert/strict");
const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const https = require("node:https");
const net = require("node:net");
const path = require("node:path");
const readline = require("node:readline");
const { after, before, describe, test } = require("node:test");
const { setTimeout: pause } = require("node:timers/promises");
const { chromium } = require("playwright-core");

const ROUNDS = process.env.OSTLER_PROOFS === "full" ? 100 : 1;
const THINKING_MS = 2000;
const PATIENCE_MS = 60_000;
const TLS = path.join(__dirname, "../../crates/ostler/tests/tls");

const PAGE = `<!doctype html><title>not yet</title>
<button onclick="document.title = String(prompt('click?'))">ask</button>
<script>document.title = String(prompt("first script?"))</script>`;

const STRICT =
  "default-src 'none'; script-src 'unsafe-inline'; connect-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const KINDS = [
  { name: "plain", secure: false, headers: {} },
  { name: "https", secure: true, headers: {} },
  { name: "strict CSP", secure: false, headers: { "content-security-policy": STRICT } },
  { name: "sandboxed", secure: false, headers: { "content-security-policy": "sandbox allow-scripts allow-modals" } },
  { name: "without synchronous XHR", secure: false, headers: { "permissions-policy": "sync-xhr=()" } },
];

/** What Playwright does that makes the page ask; each resolves to what the page got. */
const WAYS = {
  "first script": async (page, url) => {
    await page.goto(url);
    return page.title();
  },
  click: async (page) => {
    await page.click("button");
    return page.title();
  },
  evaluate: (page) => page.evaluate(() => String(prompt("evaluate?"))),
};

/** Resolves to what `look` returns as soon as that is something. */
async function until(what, look) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(20)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`waited too long until ${what}`);
}

/** A connection to ostler: one JSON object a line, answered in order. */
class Ostler {
  constructor(socket) {
    this.connection = net.connect(socket);
    this.waiting = [];
    readline.createInterface({ input: this.connection }).on("line", (line) => this.waiting.shift()(JSON.parse(line)));
  }

  ask(request) {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.connection.write(`${JSON.stringify(request)}\n`);
    });
  }

  async openTab() {
    const answer = await this.ask({ method: "Target.createTarget", params: { url: "about:blank" } });
    assert.ok(answer.result, JSON.stringify(answer));
    return answer.result.targetId;
  }

  /** Resolves to the tab's open dialog. */
  dialogOf(tab) {
    return until("a dialog is pending", async () => {
      const { state } = await this.ask({ meta: "state" });
      return state.pending_dialogs.find((dialog) => dialog.frame_id === tab);
    });
  }
}

/** Starts a Chromium of its own and resolves to it and its address. */
async function startChromium(profile) {
  const named = (name) => spawnSync("which", [name]).status === 0;
  const program = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].find(named);
  const flags = ["--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];
  flags.push("--disable-background-networking", "--disable-component-update", "--ignore-certificate-errors");
  flags.push("--remote-debugging-port=0", `--user-data-dir=${profile}`);
  if (process.getuid() === 0) flags.push("--no-sandbox");
  const browser = spawn(program, [...flags, "about:blank"], { stdio: "ignore", detached: true });
  const note = path.join(profile, "DevToolsActivePort");
  const port = await until("Chromium tells its port", () => fs.existsSync(note) && fs.readFileSync(note, "utf8").split("\n")[0]);
  return { browser, url: `http://127.0.0.1:${port}` };
}

async function serve(server) {
  server.on("request", (request, response) => {
    const kind = KINDS[new URL(request.url, "http://any").searchParams.get("kind")];
    response.writeHead(kind ? 200 : 404, { "content-type": "text/html", ...kind?.headers });
    response.end(kind ? PAGE : "");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

describe("Playwright in the tabs of an agent", { concurrency: true }, () => {
  let folder, environment, browser, playwright, ostler, sites;
  const run = (...args) =>
    assert.equal(spawnSync(process.env.OSTLER, args, { env: environment, timeout: PATIENCE_MS }).status, 0, args.join(" "));

  before(async () => {
    // Short, since a socket's path has about a hundred bytes.
    folder = fs.mkdtempSync("/tmp/ostler-");
    const home = path.join(folder, "home");
    fs.mkdirSync(home);
    fs.writeFileSync(path.join(home, "config.yaml"), "browser: {dialog_bridge: always}\n");
    const started = await startChromium(path.join(folder, "profile"));
    browser = started.browser;
    environment = { PATH: process.env.PATH, BH_RUNTIME_DIR: folder, OSTLER_HOME: home, BU_NAME: "p", BU_CDP_URL: started.url };
    run("cdp", "Browser.getVersion");
    ostler = new Ostler(path.join(folder, "bu-p.sock"));
    playwright = await chromium.connectOverCDP(started.url);
    const secret = (name) => fs.readFileSync(path.join(TLS, `${name}.pem`));
    const tls = { key: secret("key"), cert: secret("certificate") };
    sites = [await serve(http.createServer()), await serve(https.createServer(tls))];
  });

  after(async () => {
    await playwright?.close();
    ostler?.connection.end();
    if (ostler) run("stop");
    if (browser) {
      const gone = new Promise((resolve) => browser.once("exit", resolve));
      process.kill(-browser.pid, "SIGKILL");
      await gone;
    }
    for (const site of sites ?? []) site.close();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  /** Resolves to Playwright's page for a tab of ostler's, and the native dialogs that are seen there from now on. */
  async function pageOf(tab) {
    const found = await until("Playwright knows the tab", async () => {
      for (const page of playwright.contexts()[0].pages()) {
        const session = await page.context().newCDPSession(page);
        const { targetInfo } = await session.send("Target.getTargetInfo");
        if (targetInfo.targetId === tab) return { page, session };
        await session.detach();
      }
    });
    const native = [];
    await found.session.send("Page.enable");
    found.session.on("Page.javascriptDialogOpening", (dialog) => native.push(dialog));
    return { page: found.page, native };
  }

  for (const [number, kind] of KINDS.entries()) {
    test(`a ${kind.name} page gets the agent's text`, async (context) => {
      const site = sites[Number(kind.secure)];
      const url = `http${kind.secure ? "s" : ""}://127.0.0.1:${site.address().port}/?kind=${number}`;
      const tab = await ostler.openTab();
      const { page, native } = await pageOf(tab);
      for (let round = 1; round <= ROUNDS; round++) {
        for (const [way, asks] of Object.entries(WAYS)) {
          const text = `the agent's ${round} for ${way}`;
          const got = asks(page, url);
          // Awaited below; a failure before then is the dialog's absence.
          got.catch(() => {});
          const dialog = await ostler.dialogOf(tab);
          assert.equal(dialog.message, `${way}?`);
          await pause(THINKING_MS);
          const answer = { meta: "dialog", action: "accept", prompt_text: text, dialog_id: dialog.id };
          const answered = await ostler.ask(answer);
          assert.equal(answered.dialog?.closed_by, "agent", JSON.stringify(answered));
          assert.equal(await got, text, way);
        }
      }
      assert.deepEqual(native, [], "no native dialog opened");
      context.diagnostic(`${ROUNDS} times by each of ${Object.keys(WAYS).join(", ")}`);
    });
  }
});
