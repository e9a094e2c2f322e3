//! Popups of nine kinds, and pages that a person might have open and that open such popups when told to.

use std::time::{SystemTime, UNIX_EPOCH};

/// How many kinds there are.
pub(super) const KINDS: usize = 9;

/// A script with a function that opens a popup of a kind at a path. The fifth writes its document itself, whose
/// script is `PLAIN`.
const OPEN: &str = "<script>
    const click = (tag, how) => {
        const link = document.body.appendChild(Object.assign(document.createElement(tag), how));
        tag === 'a' ? link.click() : link.submit();
        link.remove();
    };
    const openPopup = (kind, path) => [
        () => window.open('{here}' + path),
        () => window.open('{there}' + path),
        () => window.open('{here}' + path, '', 'width=300,height=200'),
        () => click('a', {href: '{here}' + path, target: '_blank', rel: 'opener'}),
        () => {
            const popup = window.open('');
            const query = JSON.stringify(path.slice(path.indexOf('?')));
            popup.document.write(`<title>starts</title><script>const query = ${query}; PLAIN<\\/script>`);
            popup.document.close();
        },
        () => window.open('{here}' + path, '_blank', 'noopener'),
        () => window.open('{there}' + path, '_blank', 'noopener'),
        () => click('a', {href: '{here}' + path, target: '_blank'}),
        () => click('form', {action: '{there}' + path.slice(0, path.indexOf('?')), target: '_blank', method: 'post'}),
    ][kind]();
</script>";

/// Returns a page of the agent's: `openPopup` opens popups whose first script asks.
pub(super) fn agents_page() -> String {
    format!("<title>the agent's</title><body>{}", OPEN.replace("PLAIN", &asks()))
}

fn asks() -> String {
    "document.title = prompt('who? ' + query);".to_owned()
}

/// Returns what the agent's popups show.
pub(super) fn asking_page() -> String {
    format!("<title>starts</title><script>const query = location.search; {}</script>", asks())
}

/// Returns a page of somebody else's. It has a number and opens a popup of the kind `number % 9` each time that
/// `/round` tells a new number, and says so in its title: one that is frozen in `window.open` never gets there.
pub(super) fn foreign_page() -> String {
    let script = "<script>
        const me = Number(location.search.slice(1));
        let done = 0;
        setInterval(async () => {
            const round = Number(await (await fetch('/round')).text());
            if (round > done) {
                done = round;
                openPopup(me % 9, `/theirs?${me}-${round}`);
                document.title = `went on ${me}-${round}`;
            }
        }, 100);
    </script>";
    format!("<title>foreign</title><body>{}{script}", OPEN.replace("PLAIN", &runs()))
}

fn runs() -> String {
    "document.title = 'ran ' + (query || 'by a form');".to_owned()
}

/// Returns what a foreign popup shows: that its script has run.
pub(super) fn foreign_popup() -> String {
    format!("<title>starts</title><script>const query = location.search; {}</script>", runs())
}

/// Random numbers for moments that nobody chose; the same seed gives the same ones.
pub(super) struct Chance(u64);

impl Chance {
    /// Takes the seed of `OSTLER_SEED`, else one of the clock's, and prints it.
    pub(super) fn new() -> Self {
        let given = std::env::var("OSTLER_SEED").ok().map(|seed| seed.parse().expect("a number"));
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").subsec_nanos();
        let seed = given.unwrap_or_else(|| u64::from(clock()));
        println!("OSTLER_SEED={seed}");
        Self(seed | 1)
    }

    /// Returns a number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
