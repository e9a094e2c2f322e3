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
        world.tool("browser_run", json!({"script": "print('x', flush=True)\nwhile True: pass", "timeout_s": 1}));
    assert!(text(&endless).contains("TimeoutError"), "{endless}");
    let much = world.tool("browser_run", json!({"script": "print('y' * 100000)"}));
    assert!(text(&much).len() < 21_000 && text(&much).contains("... cut: "), "{}", text(&much).len());
    let silent = world.tool("browser_run", json!({"script": "pass"}));
    assert_eq!(text(&silent), "The script is done; it printed nothing.");
}
