//! What is seen by one who only looks.

use super::*;

#[tokio::test]
async fn a_survey_names_every_browser_and_chooses_none() {
    let home = Home::new();
    assert!(home.survey().await.is_empty());
    let (ready, asks) = (serve(browser()).await, serve_unlisted().await);
    home.note(CHROME, ready, 0);
    home.note(EDGE, asks, 10);
    home.in_use(CHROMIUM);
    home.note(SNAP, closed_port(), 20);
    let seen = home.survey().await;
    assert_eq!(
        seen,
        [
            format!("Google Chrome (`ostler connect --browser chrome`) is ready on {ready}"),
            format!("Microsoft Edge (`ostler connect --browser edge`) asks on {asks}"),
            "Chromium runs (pid PID), and its remote debugging is off".to_owned(),
        ]
    );
}

#[tokio::test]
async fn a_survey_tells_of_a_prompt_that_is_open() {
    let mut home = Home::new();
    let port = serve_asking().await;
    home.ports.push(port);
    assert_eq!(home.survey().await, [format!("the browser at 127.0.0.1:{port} asks whether it may be debugged")]);
}
