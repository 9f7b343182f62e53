//! The commands of `ctl`: one for each operation of the table, under the words that the table has for it.

use std::{collections::HashMap, path::PathBuf, sync::LazyLock};

use api::{
    documents::{
        access_point::NetworkCredentials,
        screens::{ScreenChoice, TextPerPanel},
        settings::SettingsChange,
    },
    operation::{BodyRule, HttpEndpoint, Operation, OperationHandler, ProgramOperation},
    operations::all,
    shape::Shape,
};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use device::screens::{SCREENS, Screen, custom};
use runtime::standard_error::print_error;
use serde_json::{Map, Value};
use web::parse::percent_encode;

use super::{completion::Suggested, words};
use crate::{
    commands::{
        backup,
        client::{Ask, Payload, target},
        icons,
        setting_words::{self, assignment},
        suggestion, watch,
    },
    failure::Failure,
};

/// What is written behind the commands that want something; without it an example is the command alone.
pub(super) const EXAMPLES: &[&str] = &[
    "panel 3 -o panel.png",
    "panels -o panels.png",
    "sim panels -o panels.png",
    "settings fontName ledBrightness",
    "set fontName=oswald ledBrightness=64",
    "settings export -o settings.json",
    "settings import --dry-run settings.json",
    "preview fontName=inter -o preview.png",
    "show screen block-height",
    "show currency EUR",
    "show text HODL",
    "show custom BTC/USD mdi:rocket-launch 21",
    "show preview GM 21 -o preview.png",
    "simulate-zap 21",
    "restart-datasources relay",
    "lights color FF8800",
    "lights set FF0000 00FF00 0000FF FFFFFF",
    "lights effect rainbow",
    "frontlight brightness 1024",
    "frontlight set 0 0 0 4095 0 0 0",
    "factory-reset factory_reset",
    "tx-power 60",
    "update firmware clock.img",
    "update page page.img",
    "coredump -o coredump.dmp",
    "sim buttons 2 ms=100",
    "sim lux 0.5",
    "sim wifi up",
    "sim power cycle",
    "sim market block",
    "sim panel 3 none",
    "join Home",
];

/// What the commands do that are no operation and only lead to others.
const GROUPS: &[(&str, &str)] = &[
    ("show", "Show a screen, a currency or a text"),
    ("screen", "Go to the next or the previous screen"),
    ("frontlight", "Switch and set the frontlight"),
    ("dnd", "Read and switch Do Not Disturb"),
    ("update", "Install programs and pages"),
    ("sim", "Operate the bench of a simulated board"),
    ("diag", "Look into the memory of the program"),
    ("diag heap-trace", "Trace allocations"),
];

/// Names of arguments.
const VALUES: &str = "values";
const OPEN: &str = "open";
const FILE: &str = "file";
pub(super) const OUTPUT: &str = "output";

/// What is asked of the clock by one command, besides what a client does of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The operation as it is.
    Plain,
    /// Tells the settings, or some of them.
    Settings,
    /// Shows the panels in the terminal.
    Watch,
    /// Writes a file of settings.
    Backup,
    /// Takes a file of settings over.
    Restore,
}

/// The operations that a client does something of its own with.
const WAYS: [(ProgramOperation, Way); 4] = [
    (ProgramOperation::Settings, Way::Settings),
    (ProgramOperation::Preview, Way::Watch),
    (ProgramOperation::ExportSettings, Way::Backup),
    (ProgramOperation::ImportSettings, Way::Restore),
];

impl Way {
    /// The way in which an operation is used.
    pub(super) fn of(operation: &Operation) -> Way {
        let does = |service: ProgramOperation| matches!(operation.handler, OperationHandler::Program(done) if done == service);
        let way = WAYS.iter().find(|(service, _)| does(*service));
        way.map_or(Way::Plain, |(_, way)| *way)
    }
}

/// A word of the commands, and those behind it.
struct Node {
    word: String,
    operation: Option<&'static Operation>,
    behind: Vec<Node>,
}

/// Puts a command for each operation below a command.
pub(super) fn commands(command: Command) -> Command {
    let mut roots: Vec<Node> = Vec::new();
    for operation in all() {
        let words = operation.command();
        let words: Vec<&str> = words.split(' ').collect();
        insert(&mut roots, &words, operation);
    }
    command.subcommands(roots.into_iter().map(|root| node(root, "")))
}

fn insert(nodes: &mut Vec<Node>, words: &[&str], operation: &'static Operation) {
    let Some((first, rest)) = words.split_first() else {
        return;
    };
    let at = match nodes.iter().position(|node| node.word == *first) {
        Some(at) => at,
        None => {
            nodes.push(Node {
                word: (*first).to_string(),
                operation: None,
                behind: Vec::new(),
            });
            nodes.len() - 1
        }
    };
    if rest.is_empty() {
        nodes[at].operation = Some(operation);
    } else {
        insert(&mut nodes[at].behind, rest, operation);
    }
}

fn node(node: Node, path: &str) -> Command {
    let path = format!("{path} {}", node.word);
    let path = path.trim_start();
    let Node {
        word,
        operation,
        behind,
    } = node;
    let mut command = Command::new(word);
    command = match operation {
        Some(operation) => leaf(command, operation),
        None => {
            let about = GROUPS.iter().find(|(words, _)| *words == path);
            let about = about.map_or("", |(_, about)| *about);
            command.about(about).subcommand_required(true)
        }
    };
    command
        .disable_help_subcommand(true)
        .subcommands(behind.into_iter().map(|node| self::node(node, path)))
}

/// The examples by the words of their operations.
static NAMED_EXAMPLES: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
    let named = EXAMPLES.iter().map(|example| (named_by(example), *example));
    named.collect()
});

/// The words of the operation that an example is of.
fn named_by(example: &str) -> String {
    let named = all().map(Operation::command);
    let begins = |words: &String| {
        let rest = example.strip_prefix(words.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let longest = named.filter(begins).max_by_key(String::len);
    longest.unwrap_or_default()
}

/// A command for one operation.
fn leaf(command: Command, operation: &'static Operation) -> Command {
    let words = operation.command();
    let example = NAMED_EXAMPLES.get(&words);
    let example = example.map_or(words.as_str(), |example| *example);
    let mut command = command
        .about(operation.summary)
        .after_help(format!("Example:\n  papertick ctl {example}"));
    let Some(endpoint) = operation.endpoints.first() else {
        return command;
    };
    match Way::of(operation) {
        Way::Settings => {
            let keys = Arg::new(VALUES)
                .value_name("KEY")
                .num_args(0..)
                .value_parser(Suggested::read_settings())
                .hide_possible_values(true)
                .help("Settings to print [default: all]");
            return command.arg(keys);
        }
        Way::Watch => return command.args(watch::arguments()),
        // These set the purpose of the command as well.
        Way::Backup => return backup::export_arguments(command).about(operation.summary),
        Way::Restore => return backup::import_arguments(command).about(operation.summary),
        Way::Plain => {}
    }
    if let Some(name) = path_parameter(endpoint) {
        let open = Arg::new(OPEN)
            .value_name(name.to_ascii_uppercase())
            .required(endpoint.default_value.is_none());
        command = command.arg(open.help("Which one"));
    }
    let schema = body(operation).map(Shape::schema).unwrap_or_default();
    for param in endpoint.query {
        if schema["properties"].get(param.name).is_none() {
            let flag = Arg::new(param.name).long(param.name).value_name("VALUE");
            command = command.arg(flag.help(param.doc));
        }
    }
    command = match body(operation) {
        None => command,
        Some(Shape::Image) => command.arg(
            Arg::new(FILE)
                .value_name("FILE")
                .required(true)
                .value_hint(ValueHint::FilePath)
                .value_parser(value_parser!(PathBuf))
                .help("The image"),
        ),
        Some(shape) if shape.is::<SettingsChange>() => command.arg(
            Arg::new(VALUES)
                .value_name("KEY=VALUE")
                .required(true)
                .num_args(1..)
                .value_parser(Suggested::assignments())
                .hide_possible_values(true)
                .help("Settings; a secret is better read from a file: KEY=@FILE"),
        ),
        Some(shape) => {
            let choices = words::choices(&schema);
            let mut help = words::usage(&schema);
            if !choices.is_empty() {
                help = format!("{help} ({})", choices.join("; "));
            }
            command.arg(
                Arg::new(VALUES)
                    .value_name("VALUE")
                    .num_args(0..)
                    .action(ArgAction::Append)
                    .allow_negative_numbers(true)
                    .value_parser(Suggested::of(shape, &schema))
                    .hide_possible_values(true)
                    .help(help),
            )
        }
    };
    if is_file(operation) {
        command = command.arg(
            Arg::new(OUTPUT)
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_hint(ValueHint::FilePath)
                .value_parser(value_parser!(PathBuf))
                .help("File for the answer; without one it goes to the standard output"),
        );
    }
    command
}

/// The operation that a command line names, and the matches of its command.
pub(super) fn chosen(matches: &ArgMatches) -> Option<(&'static Operation, &ArgMatches)> {
    let mut words: Vec<&str> = Vec::new();
    let mut matches = matches;
    while let Some((word, behind)) = matches.subcommand() {
        words.push(word);
        matches = behind;
    }
    let words = words.join(" ");
    let operation = all().find(|operation| operation.command() == words)?;
    Some((operation, matches))
}

/// What is asked by a command line.
///
/// # Errors
/// Its words do not make what the operation takes.
pub(super) fn ask(operation: &Operation, matches: &ArgMatches) -> Result<Ask, Failure> {
    let nothing = || Failure::usage("this operation cannot be asked for");
    let endpoint = operation.endpoints.first().ok_or_else(nothing)?;
    let mut path = endpoint.path.to_string();
    if let Some(name) = path_parameter(endpoint) {
        let said = matches.get_one::<String>(OPEN).map(String::as_str);
        let said = said.or(endpoint.default_value).unwrap_or_default();
        path = path.replace(&format!("{{{name}}}"), &percent_encode(said));
    }
    let asked = endpoint.query.iter().filter_map(|param| {
        let said = matches.try_get_one::<String>(param.name).ok().flatten()?;
        Some(format!("{}={}", param.name, percent_encode(said)))
    });
    let query = asked.collect::<Vec<_>>().join("&");
    if !query.is_empty() {
        path = format!("{path}?{query}");
    }
    let payload = payload(operation, matches)?;
    let mut ask = Ask::new(endpoint.method.name(), path, payload);
    ask.is_update |= matches!(
        operation.handler,
        OperationHandler::Program(ProgramOperation::AutoUpdate)
    );
    Ok(ask)
}

fn payload(operation: &Operation, matches: &ArgMatches) -> Result<Payload, Failure> {
    let Some(shape) = body(operation) else {
        return Ok(Payload::Nothing);
    };
    if shape == Shape::Image {
        let file = matches.get_one::<PathBuf>(FILE).cloned();
        return Ok(file.map_or(Payload::Nothing, Payload::File));
    }
    let said = matches.get_many::<String>(VALUES).unwrap_or_default();
    let said: Vec<String> = said.cloned().collect();
    if shape.is::<SettingsChange>() {
        return change(&said).map(Payload::Json);
    }
    if said.is_empty()
        && matches!(
            operation.body,
            BodyRule::Optional(_) | BodyRule::BodyOrQuery(_)
        )
    {
        return Ok(Payload::Nothing);
    }
    let said = if shape.is::<ScreenChoice>() {
        said.iter()
            .map(|word| screen(word))
            .collect::<Result<_, _>>()?
    } else if shape.is::<NetworkCredentials>() {
        with_password(said)?
    } else {
        said
    };
    if shape.is::<TextPerPanel>() {
        icons::mention_unknown(&custom::cells(&said, None, said.len()));
    }
    words::document(&shape.schema(), &said).map(Payload::Json)
}

/// A change of settings; what is secret can come from a file.
fn change(assignments: &[String]) -> Result<Value, Failure> {
    let mut body = Map::new();
    for text in assignments {
        let (key, said) = assignment("ctl set", text)?;
        let is_secret = setting_words::is_secret(key);
        let from_file = said.strip_prefix('@').filter(|_| is_secret);
        let value = match from_file {
            Some(file) => Value::from(target::from_file(file.as_ref())?.expose()),
            None => setting_words::value(key, said)?,
        };
        if is_secret && from_file.is_none() && !said.is_empty() {
            print_error(&format!(
                "others on this machine can see {key} on the command line: {key}=@FILE reads it from a file, {key}=@- from the standard input"
            ));
        }
        body.insert(key.into(), value);
    }
    Ok(Value::Object(body))
}

/// The id of a screen that is named instead of numbered.
fn screen(word: &str) -> Result<String, Failure> {
    if let Some(named) = SCREENS.iter().find(|screen| screen.word() == word) {
        return Ok(named.id.to_string());
    }
    // A number, a member by its name or a document.
    if word.starts_with(|first: char| !first.is_alphabetic()) || word.contains('=') {
        return Ok(word.to_string());
    }
    let words: Vec<String> = SCREENS.iter().map(Screen::word).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let otherwise = format!("there are {}", words.join(", "));
    Err(suggestion::unknown("screen", word, words, &otherwise))
}

/// Prompts for the password of a network if there is a terminal.
fn with_password(mut said: Vec<String>) -> Result<Vec<String>, Failure> {
    match said.as_slice() {
        [_] => {
            if let Some(password) = target::typed("Password of the network: ") {
                said.push(format!("pw={}", password.expose()));
            }
        }
        [_, ..] => print_error("others on this machine can see a password on the command line"),
        [] => {}
    }
    Ok(said)
}

/// Shape of the body that an operation takes.
fn body(operation: &Operation) -> Option<Shape> {
    match operation.body {
        BodyRule::None => None,
        BodyRule::Optional(shape) | BodyRule::BodyOrQuery(shape) | BodyRule::Required(shape) => {
            Some(shape)
        }
    }
}

/// Tells whether what is answered is for a file rather than for people.
pub(super) fn is_file(operation: &Operation) -> bool {
    let is_file = |shape: Shape| {
        shape
            .content_type()
            .is_some_and(|kind| kind.starts_with("image/") || kind == "application/octet-stream")
    };
    let mut answers = operation.answers.iter();
    answers.any(|(status, shape)| *status == 200 && is_file(*shape))
}

/// Name of the open part of a path.
fn path_parameter(endpoint: &HttpEndpoint) -> Option<&'static str> {
    let (_, rest) = endpoint.path.split_once('{')?;
    rest.split_once('}').map(|(name, _)| name)
}
