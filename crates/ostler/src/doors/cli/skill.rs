//! `ostler skill`: the text that teaches a shell agent.

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use crate::exit_code::Exit;

/// The one text, which also stands in the repository for people to read.
const SKILL: &str = include_str!("../../../../../SKILL.md");

/// Prints the text that teaches an agent to use ostler from the shell
///
///     ostler skill > ~/.claude/skills/ostler/SKILL.md
#[derive(Args, Debug)]
#[command(name = "skill", verbatim_doc_comment)]
pub(super) struct Skill {}

impl Skill {
    pub(super) fn run(self, context: &Context) -> Result<Exit, Failure> {
        context.print_value("skill", SKILL.trim_end())?;
        Ok(Exit::Success)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Arguments;
    use super::*;
    use crate::tools::TABLE;

    const HELPERS: &str = include_str!("../../../../../python/helpers.py");

    /// Returns the text between two marks, wherever it stands.
    fn between<'t>(text: &'t str, from: &str, to: &str) -> Vec<&'t str> {
        text.split(from).skip(1).filter_map(|rest| rest.split_once(to)).map(|(inside, _)| inside).collect()
    }

    /// Returns every command that the text shows, in a block or in the middle of a sentence.
    fn commands() -> Vec<&'static str> {
        let blocks = between(SKILL, "```sh\n", "```").into_iter().flat_map(str::lines);
        let inline =
            SKILL.lines().filter(|line| !line.starts_with("```")).flat_map(|line| line.split('`').skip(1).step_by(2));
        blocks.chain(inline).filter(|line| line.starts_with("ostler ")).collect()
    }

    /// Splits a command as a shell does, as far as the text goes: words, and words in single quotes.
    fn words(command: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for letter in command.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(std::mem::take(&mut word)),
                other => word.push(other),
            }
        }
        words.push(word);
        words
    }

    #[test]
    fn it_costs_a_model_less_than_eight_kilobytes() {
        assert!(SKILL.len() < 8_000, "{} bytes", SKILL.len());
    }

    #[test]
    fn every_command_in_it_is_one() {
        let commands = commands();
        assert!(commands.len() > 12, "{commands:?}");
        for command in commands {
            let command = command.split_once(" <<").map_or(command, |(command, _script)| command);
            let parsed = Arguments::try_parse_from(words(command));
            assert!(parsed.is_ok(), "{command}: {}", parsed.expect_err("just seen"));
        }
    }

    #[test]
    fn every_helper_and_tool_in_it_is_there() {
        let known = |name: &str| HELPERS.contains(&format!("\ndef {name}("));
        let shown = SKILL.split('`').skip(1).step_by(2).filter_map(|code| code.split_once('(').map(|(name, _)| name));
        let helpers: Vec<_> = shown.filter(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')).collect();
        assert!(helpers.len() > 12, "{helpers:?}");
        for helper in helpers {
            assert!(known(helper), "{helper} is no helper");
        }
        let tools = commands().into_iter().filter_map(|command| words(command).get(2).cloned());
        for tool in tools.filter(|word| word.starts_with("browser_")) {
            assert!(TABLE.iter().any(|known| known.name == tool), "{tool} is no tool");
        }
    }
}
