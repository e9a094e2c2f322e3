//! `browser_run`: a script works in the tab that the tools work in.

use serde_json::json;

use super::super::sandbox::Ran;
use super::super::world::World;
use super::text;

#[test]
fn a_script_and_the_tools_act_on_one_tab() {
    let mut world = World::with(&[("/", "<link rel=icon href='data:,'><title>one</title>")]);
    world.tool("browser_navigate", json!({"url": world.site.here("/")}));
    let ran =
        world.tool("browser_run", json!({"script": "print(js('document.title'))\njs('document.title = \"two\"')"}));
    assert_eq!([&ran["text"], &ran["data"]["exit_status"]], [&json!("one\n"), &json!(0)], "{ran}");
    assert_eq!(world.line.js("document.title"), "two");

    let failed = world.tool("browser_run", json!({"script": "print('before')\n1/0"}));
    assert_eq!([&failed["data"]["exit_status"], &failed["failed"]], [&json!(1), &json!(true)]);
    let said = text(&failed);
    assert!(said.starts_with("The script failed (exit status: 1).\nIt said:\nTraceback"), "{said}");
    assert!(said.ends_with("Before that it printed:\nbefore") && said.contains("ZeroDivisionError"), "{said}");
    assert_eq!(ran.get("failed"), None);
    let mut shell = world.sandbox.ostler(&["tool", "run", r#"{"script": "raise SystemExit(3)"}"#]);
    let shell = Ran::of(shell.env_remove("BU_CDP_WS").env("BU_CDP_URL", world.chromium.url()));
    assert_eq!((shell.code, shell.stdout.trim()), (Some(1), "The script failed (exit status: 3)."), "{shell:?}");

    let endless =
        world.try_tool("browser_run", json!({"script": "print('x', flush=True)\nwhile True: pass", "timeout_s": 1}));
    assert_eq!([&endless["error_code"], &endless["timeout_ms"]], [&json!("timeout"), &json!(1000)], "{endless}");
    let said = endless["error"].as_str().unwrap();
    let told =
        "the script was not done within 1 s; it was stopped in its line 2; it had printed \"x\"; look at the page";
    assert!(said.starts_with(told), "{said}");
    let much = world.tool("browser_run", json!({"script": "print('y' * 100000)"}));
    assert!(text(&much).len() < 21_000 && text(&much).contains("... cut: "), "{}", text(&much).len());
    let silent = world.tool("browser_run", json!({"script": "pass"}));
    assert_eq!(text(&silent), "The script is done; it printed nothing.");
}

#[test]
fn a_script_is_told_of_a_site_that_cannot_be_reached_whoever_went_there() {
    let mut world = World::with(&[("/", "<link rel=icon href='data:,'><title>one</title>")]);
    world.go("/");
    let by_itself = "js(\"location = 'http://127.0.0.1:9/by-itself'; 1\")\nwait(0.1)\nwait_for_load()";
    for (script, url) in [
        ("new_tab('http://127.0.0.1:9/new')", "http://127.0.0.1:9/new"),
        ("goto_url('http://127.0.0.1:9/there')", "http://127.0.0.1:9/there"),
        (by_itself, "http://127.0.0.1:9/by-itself"),
    ] {
        let failed = world.tool("browser_run", json!({"script": script}));
        let said = format!("RuntimeError: {url} could not be opened: net::ERR_UNSAFE_PORT; check the address");
        assert!(text(&failed).contains(&said), "{script}: {failed}");
    }
}
