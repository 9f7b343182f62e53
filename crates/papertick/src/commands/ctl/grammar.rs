//! The commands of `ctl`, made of the table of operations.

use std::{collections::HashMap, fmt::Write as _, path::PathBuf, sync::LazyLock};

use api::{
    documents::{
        access_point::NetworkCredentials,
        lights::LedColours,
        screens::{CurrencyChoice, ScreenChoice, TextPerPanel},
        settings::SettingsChange,
    },
    operation::{BodyRule, HttpEndpoint, Operation},
    operations::all,
    shape::Shape,
};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use device::screens::{SCREENS, Screen, custom};
use runtime::standard_error::print_error;
use serde_json::{Map, Value};
use web::parse::percent_encode;

use super::{arguments, completion::Suggestions};
use crate::{
    commands::{
        backup,
        client::{ClientRequest, Payload, target},
        icons, schemas,
        setting_args::{self, assignment},
        suggestion, watch,
    },
    failure::Failure,
};

/// Examples of commands with arguments. For other commands, the example is the command itself.
pub(super) const EXAMPLES: &[&str] = &[
    "panel 3 -o panel.png",
    "panels -o panels.png",
    "sim panels -o panels.png",
    "settings fontName ledBrightness",
    "set fontName=oswald ledBrightness=64",
    "settings export -o settings.json",
    "settings import --dry-run settings.json",
    "preview fontName=inter -o preview.png",
    "frame preview fontName=inter -o frame.png",
    "show screen block-height",
    "show currency EUR",
    "show text HODL",
    "show custom BTC/USD mdi:rocket-launch 21",
    "show preview GM 21 -o preview.png",
    "simulate-zap 21",
    "restart-datasources relay",
    "display add name=Kitchen intervalMin=30",
    "display change 917F0B state=approved",
    "display remove 917F0B",
    "display picture 917F0B -o display.png",
    "trmnl picture 0123-pt-0123 -o display.png",
    "trmnl log",
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

/// Descriptions of commands that only have subcommands.
const GROUPS: &[(&str, &str)] = &[
    ("show", "Show a screen, a currency or a text"),
    ("screen", "Go to the next or the previous screen"),
    ("display", "Add, approve and change remote displays"),
    ("trmnl", "What remote displays ask for"),
    ("frontlight", "Switch and set the frontlight"),
    ("dnd", "Read and switch Do Not Disturb"),
    ("update", "Install programs and pages"),
    ("sim", "Operate the bench of a simulated board"),
    ("diag", "Inspect the memory of the program"),
    ("diag heap-trace", "Trace allocations"),
];

/// Names of arguments.
const VALUES: &str = "values";
const PATH_PARAMETER: &str = "path-parameter";
const FILE: &str = "file";
pub(super) const OUTPUT: &str = "output";

/// How a command is performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandKind {
    /// Sends the request of the operation.
    Plain,
    /// Prints the settings, or some of them.
    Settings,
    /// Shows the panels in the terminal.
    Watch,
    /// Exports a file of settings.
    Backup,
    /// Imports a file of settings.
    Restore,
}

impl CommandKind {
    /// How the command of an operation is performed.
    pub(super) fn of(operation: &Operation) -> CommandKind {
        match operation.command().as_str() {
            "settings" => CommandKind::Settings,
            "watch" => CommandKind::Watch,
            "settings export" => CommandKind::Backup,
            "settings import" => CommandKind::Restore,
            _ => CommandKind::Plain,
        }
    }
}

/// A word of a command, and its subcommands.
struct CommandNode {
    word: String,
    operation: Option<&'static Operation>,
    children: Vec<CommandNode>,
}

/// Adds a subcommand for each operation.
pub(super) fn commands(command: Command) -> Command {
    let mut roots: Vec<CommandNode> = Vec::new();
    for operation in all() {
        let words = operation.command();
        let words: Vec<&str> = words.split(' ').collect();
        insert(&mut roots, &words, operation);
    }
    command.subcommands(roots.into_iter().map(|root| node(root, "")))
}

fn insert(nodes: &mut Vec<CommandNode>, words: &[&str], operation: &'static Operation) {
    let Some((first, rest)) = words.split_first() else {
        return;
    };
    let at = match nodes.iter().position(|node| node.word == *first) {
        Some(at) => at,
        None => {
            nodes.push(CommandNode {
                word: (*first).to_string(),
                operation: None,
                children: Vec::new(),
            });
            nodes.len() - 1
        }
    };
    if rest.is_empty() {
        nodes[at].operation = Some(operation);
    } else {
        insert(&mut nodes[at].children, rest, operation);
    }
}

fn node(node: CommandNode, path: &str) -> Command {
    let path = format!("{path} {}", node.word);
    let path = path.trim_start();
    let CommandNode {
        word,
        operation,
        children,
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
        .subcommands(children.into_iter().map(|node| self::node(node, path)))
}

/// The examples by the words of their operations.
static NAMED_EXAMPLES: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
    let named = EXAMPLES
        .iter()
        .map(|example| (operation_of(example), *example));
    named.collect()
});

/// The command words of the operation of an example.
fn operation_of(example: &str) -> String {
    let named = all().map(Operation::command);
    let begins = |words: &String| {
        let rest = example.strip_prefix(words.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let longest = named.filter(begins).max_by_key(String::len);
    longest.unwrap_or_default()
}

fn leaf(command: Command, operation: &'static Operation) -> Command {
    let words = operation.command();
    let example = NAMED_EXAMPLES.get(&words);
    let example = example.map_or(words.as_str(), |example| *example);
    let help_end = format!("Example:\n  papertick ctl {example}");
    let mut command = command.about(operation.summary).after_help(&help_end);
    let Some(endpoint) = operation.endpoints.first() else {
        return command;
    };
    match CommandKind::of(operation) {
        CommandKind::Settings => {
            let keys = Arg::new(VALUES)
                .value_name("KEY")
                .num_args(0..)
                .value_parser(Suggestions::read_settings())
                .hide_possible_values(true)
                .help("Settings to print [default: all]");
            return command.arg(keys);
        }
        CommandKind::Watch => return command.args(watch::arguments()),
        // The derived arguments also set a description.
        CommandKind::Backup => return backup::export_arguments(command).about(operation.summary),
        CommandKind::Restore => return backup::import_arguments(command).about(operation.summary),
        CommandKind::Plain => {}
    }
    if let Some(name) = path_parameter(endpoint) {
        let parameter = Arg::new(PATH_PARAMETER)
            .value_name(name.to_ascii_uppercase())
            .required(endpoint.default_value.is_none());
        command = command.arg(parameter.help("Which one"));
    }
    let schema = body(operation).map(schemas::of).unwrap_or_default();
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
                .value_parser(Suggestions::assignments())
                .hide_possible_values(true)
                .help("Settings; KEY=@FILE reads a secret from a file"),
        ),
        Some(shape) => {
            let help = arguments::usage(&schema);
            command = command.after_help(format!(
                "{}{help_end}",
                values_help(shape, &schema, endpoint)
            ));
            command.arg(
                Arg::new(VALUES)
                    .value_name("VALUE")
                    .num_args(0..)
                    .action(ArgAction::Append)
                    .allow_negative_numbers(true)
                    .value_parser(Suggestions::of(shape, &schema))
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
                .help("File for the response [default: standard output]"),
        );
    }
    command
}

fn values_help(shape: Shape, schema: &Value, endpoint: &HttpEndpoint) -> String {
    let mut help = String::new();
    for (name, mut text) in arguments::details(schema) {
        let param = endpoint.query.iter().find(|param| param.name == name);
        if let Some(param) = param {
            text = param.doc.to_owned();
        }
        // Writing to a string cannot fail.
        let _ = writeln!(help, "  {name:12}  {text}");
    }
    if shape.is::<ScreenChoice>() {
        for screen in SCREENS {
            let _ = writeln!(
                help,
                "  {:24}{}, number {}",
                screen.word(),
                screen.name,
                screen.id
            );
        }
    } else if shape.is::<CurrencyChoice>() {
        let usual = setting_args::currencies().join(", ");
        let _ = writeln!(
            help,
            "  {usual}; `papertick ctl settings availableCurrencies` prints those of a clock"
        );
    } else if shape.is::<LedColours>() {
        help.push_str("  RRGGBB or #RRGGBB for each LED, or one for all\n");
    }
    if help.is_empty() {
        return help;
    }
    format!("Values:\n{help}\n")
}

/// The operation of a command line, and the matches of its command.
pub(super) fn find_operation(matches: &ArgMatches) -> Option<(&'static Operation, &ArgMatches)> {
    let mut words: Vec<&str> = Vec::new();
    let mut matches = matches;
    while let Some((word, inner)) = matches.subcommand() {
        words.push(word);
        matches = inner;
    }
    let words = words.join(" ");
    let operation = all().find(|operation| operation.command() == words)?;
    Some((operation, matches))
}

/// The request of a command line.
///
/// # Errors
/// The arguments do not fit the operation.
pub(super) fn request(
    operation: &Operation,
    matches: &ArgMatches,
) -> Result<ClientRequest, Failure> {
    let no_endpoint = || Failure::usage("this operation has no HTTP endpoint");
    let endpoint = operation.endpoints.first().ok_or_else(no_endpoint)?;
    let mut path = endpoint.path.to_string();
    if let Some(name) = path_parameter(endpoint) {
        let value = matches
            .get_one::<String>(PATH_PARAMETER)
            .map(String::as_str);
        let value = value.or(endpoint.default_value).unwrap_or_default();
        path = path.replace(&format!("{{{name}}}"), &percent_encode(value));
    }
    let pairs = endpoint.query.iter().filter_map(|param| {
        let value = matches.try_get_one::<String>(param.name).ok().flatten()?;
        Some(format!("{}={}", param.name, percent_encode(value)))
    });
    let query = pairs.collect::<Vec<_>>().join("&");
    if !query.is_empty() {
        path = format!("{path}?{query}");
    }
    let payload = payload(operation, matches)?;
    let mut request = ClientRequest::new(endpoint.method.name(), path, payload);
    request.is_update |= endpoint.path == "/api/firmware/auto_update";
    Ok(request)
}

fn payload(operation: &Operation, matches: &ArgMatches) -> Result<Payload, Failure> {
    let Some(shape) = body(operation) else {
        return Ok(Payload::Nothing);
    };
    if shape == Shape::Image {
        let file = matches.get_one::<PathBuf>(FILE).cloned();
        return Ok(file.map_or(Payload::Nothing, Payload::File));
    }
    let values = matches.get_many::<String>(VALUES).unwrap_or_default();
    let values: Vec<String> = values.cloned().collect();
    if shape.is::<SettingsChange>() {
        return settings_change(&values).map(Payload::Json);
    }
    if values.is_empty()
        && matches!(
            operation.body,
            BodyRule::Optional(_) | BodyRule::BodyOrQuery(_)
        )
    {
        return Ok(Payload::Nothing);
    }
    let values = if shape.is::<ScreenChoice>() {
        values
            .iter()
            .map(|word| screen_id(word))
            .collect::<Result<_, _>>()?
    } else if shape.is::<NetworkCredentials>() {
        with_password(values)?
    } else {
        values
    };
    if shape.is::<TextPerPanel>() {
        icons::warn_unknown(&custom::cells(&values, None, values.len()));
    }
    arguments::document(&schemas::of(shape), &values).map(Payload::Json)
}

/// The body of a PATCH of settings. Secrets can come from files.
fn settings_change(assignments: &[String]) -> Result<Value, Failure> {
    let mut body = Map::new();
    for text in assignments {
        let (key, text) = assignment("ctl set", text)?;
        let is_secret = setting_args::is_secret(key);
        let from_file = text.strip_prefix('@').filter(|_| is_secret);
        let value = match from_file {
            Some(file) => Value::from(target::from_file(file.as_ref())?.expose()),
            None => setting_args::value(key, text)?,
        };
        if is_secret && from_file.is_none() && !text.is_empty() {
            print_error(&format!(
                "others on this machine can see {key} on the command line: {key}=@FILE reads it from a file, {key}=@- from the standard input"
            ));
        }
        body.insert(key.into(), value);
    }
    Ok(Value::Object(body))
}

/// Replaces the name of a screen by its id.
fn screen_id(word: &str) -> Result<String, Failure> {
    if let Some(named) = SCREENS.iter().find(|screen| screen.word() == word) {
        return Ok(named.id.to_string());
    }
    // A number, `NAME=VALUE` or a JSON document.
    if word.starts_with(|first: char| !first.is_alphabetic()) || word.contains('=') {
        return Ok(word.to_string());
    }
    let words: Vec<String> = SCREENS.iter().map(Screen::word).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let otherwise = format!("possible values are {}", words.join(", "));
    Err(suggestion::unknown("screen", word, words, &otherwise))
}

/// Prompts for the password of a network if there is a terminal.
fn with_password(mut values: Vec<String>) -> Result<Vec<String>, Failure> {
    match values.as_slice() {
        [_] => {
            if let Some(password) = target::prompt_secret("Password of the network: ") {
                values.push(format!("pw={}", password.expose()));
            }
        }
        [_, ..] => print_error("others on this machine can see a password on the command line"),
        [] => {}
    }
    Ok(values)
}

/// Shape of the body of an operation. `None` if it takes no body.
pub(super) fn body(operation: &Operation) -> Option<Shape> {
    match operation.body {
        BodyRule::None => None,
        BodyRule::Optional(shape) | BodyRule::BodyOrQuery(shape) | BodyRule::Required(shape) => {
            Some(shape)
        }
    }
}

/// Whether the response is a file, such as an image.
pub(super) fn is_file(operation: &Operation) -> bool {
    let is_file = |shape: Shape| {
        shape
            .content_type()
            .is_some_and(|kind| kind.starts_with("image/") || kind == "application/octet-stream")
    };
    let mut answers = operation.answers.iter();
    answers.any(|(status, shape)| *status == 200 && is_file(*shape))
}

/// Name of the parameter in the path.
fn path_parameter(endpoint: &HttpEndpoint) -> Option<&'static str> {
    let (_, rest) = endpoint.path.split_once('{')?;
    rest.split_once('}').map(|(name, _)| name)
}
