//! What may be typed, and the help for it.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use pinza::{
    Provider,
    agent::Reveal,
    core::{Profile, meta::SEARCH_LIMIT},
};

#[derive(Debug, Parser)]
#[command(
    name = "pinza",
    version,
    about = "The tool runtime for AI agents: validated, permitted, sandboxed tool calls",
    after_help = "Examples:
  pinza call get_current_time timezone=Asia/Tokyo
  pinza call write_file path=notes.txt content='hello'
  pinza call exec command='git status' --allow exec
  pinza tools list
  pinza schema --provider anthropic --all

Exit codes: 0 fine, 1 an answered error, 2 wrong usage or configuration.",
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// No command at all.
#[derive(Debug, Parser)]
pub(crate) struct Bare {
    #[command(flatten)]
    pub(crate) global: Global,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Global {
    /// Pinza's own directory [default: $PINZA_HOME, else the data directory + pinza]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The directory that file tools may touch [default: HOME/workspace]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// A directory of tools to load as well; may be given more than once
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) tools: Vec<PathBuf>,
    /// Grant capabilities: fs.read fs.write net net.private exec browser node message schedule …
    #[arg(long, global = true, value_name = "CAP,..", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
    /// Refuse capabilities, whatever else allows them
    #[arg(long, global = true, value_name = "CAP,..", value_delimiter = ',')]
    pub(crate) deny: Vec<String>,
    /// Answer every question with yes (never a deny)
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// A variable for tools; may be given more than once
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// Let a user's tool take the place of a built-in one
    #[arg(long, global = true)]
    pub(crate) allow_override: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say more, on stderr
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The commands that programs start again and again: read without putting together what all others may be given.
#[derive(Debug, Parser)]
#[command(name = "pinza")]
struct Quick {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: QuickCommand,
}

#[derive(Debug, Subcommand)]
enum QuickCommand {
    Call(Call),
    Serve(Serve),
}

/// One of those, if it was typed without a fault. Help and complaints are the whole command line's.
pub(crate) fn read_quickly(typed: &[OsString]) -> Option<Cli> {
    typed.iter().any(|word| word == "call" || word == "serve").then_some(())?;
    let Quick { global, command } = Quick::try_parse_from(typed).ok()?;
    let command = match command {
        QuickCommand::Call(arguments) => Command::Call(arguments),
        QuickCommand::Serve(arguments) => Command::Serve(arguments),
    };
    Some(Cli { global, command })
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Call a tool
    Call(Call),
    /// List, show, search, begin, check, test, enable and disable tools
    #[command(subcommand)]
    Tools(Tools),
    /// List and show groups of tools
    #[command(subcommand)]
    Groups(Groups),
    /// List, show, check and begin skills: instructions that a model loads for a kind of task
    #[command(subcommand)]
    Skills(Skills),
    /// Turn npm packages into tools: add, check, list and remove modules
    #[command(subcommand)]
    Module(Module),
    /// Use other MCP servers, and let agents use Pinza
    #[command(subcommand)]
    Mcp(Mcp),
    /// Print tool definitions in a provider's own format
    Schema(Schema),
    /// Show and change the configuration
    #[command(subcommand)]
    Config(Config),
    /// Keep variables for tools, encrypted
    #[command(subcommand)]
    Env(Env),
    /// Say what tools may do
    #[command(subcommand)]
    Policy(Policy),
    /// Begin a project's .pinza/: tools, skills and rules that come with its repository
    Init(Init),
    /// Trust a project's .pinza/ as it is now, so that its tools and rules are read
    Trust(Trust),
    /// Look through the journal of calls
    #[command(subcommand)]
    Calls(Calls),
    /// List, show, export and remove sessions
    #[command(subcommand)]
    Sessions(Sessions),
    /// The agents of the configuration
    #[command(subcommand)]
    Agents(Agents),
    /// What agents were told to remember
    #[command(subcommand)]
    Memory(Memory),
    /// Measure this program: what groups save, what a search finds
    #[command(subcommand)]
    Bench(Bench),
    /// Check this installation and say what is enforced here
    Doctor,
    /// Print a completion script for a shell
    Completions(Completions),
    /// Talk with a model that has these tools
    Chat(Chat),
    /// Serve tools over MCP, on stdin and stdout or over HTTP
    Serve(Serve),
    /// The client's side of the official conformance suite
    #[command(hide = true)]
    ConformanceClient {
        /// Where the suite's server listens
        url: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Calls {
    /// The last calls, the newest last
    List(CallsOf),
    /// One call: arguments, decisions, what came of it
    Show { id: i64 },
    /// The last calls, and then each that ends
    Tail(CallsOf),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CallsOf {
    /// Only of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only those that stand so: running, success, or an error's code
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// The last sessions, the newest first
    List {
        /// How many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// What was said in a session
    Show {
        id: String,
        /// What its tools cost, against sending all of them every time
        #[arg(long)]
        receipt: bool,
    },
    /// A whole session as JSON
    Export { id: String },
    /// Remove sessions; their calls stay in the journal
    Rm {
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Agents {
    /// All agents
    List,
    /// One agent: provider, model, tools, prompt
    Show { name: String },
    /// Remove agents; their sessions stay
    Rm {
        #[arg(required = true)]
        names: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// All that is remembered
    List,
    /// Remember a text
    Add { text: String },
    /// Look for words in memory and in what was said in sessions
    Search {
        query: String,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
    },
    /// Forget
    Rm {
        #[arg(required = true)]
        ids: Vec<i64>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Arguments:
  '{\"path\": \"notes.txt\"}'   a JSON object
  path=notes.txt limit=5    key=value; JSON where the parameter's type wants it, else text
  @args.json                from a file
  -                         from stdin")]
pub(crate) struct Call {
    /// The tool's name
    pub(crate) name: String,
    /// The arguments: a JSON object, key=value pairs, @FILE or -
    #[arg(value_name = "JSON | key=value | @FILE | -")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// All tools, by section
    List,
    /// One tool: what it does, its parameters, what it needs
    Show { name: String },
    /// Find tools by what they do
    Search(SearchTools),
    /// Look through directories of JavaScript tools for faults, and for what could be better
    Check {
        /// Directories [default: HOME/tools and --tools]
        directories: Vec<PathBuf>,
    },
    /// Begin a JavaScript tool: a working example with a test
    New(NewTool),
    /// Run the test files beside JavaScript tools, in the real sandbox
    Test(TestTools),
    /// Switch tools on again
    Enable {
        /// Tool names and sets such as group:web
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Switch tools off
    Disable {
        /// Tool names and sets such as group:web
        #[arg(required = true)]
        names: Vec<String>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pinza tools search send an email
  pinza tools search 'list my repositories' 'create an issue' --limit 3

It is the search that models have as search_tools: only what policy permits is found.")]
pub(crate) struct SearchTools {
    /// What the tool should do; several queries in quotes are answered together
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) words: Vec<String>,
    /// Only in this group
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// Hits for each query
    #[arg(long, value_name = "N", default_value_t = SEARCH_LIMIT)]
    pub(crate) limit: i64,
}

#[derive(Debug, Args)]
pub(crate) struct NewTool {
    /// Its name, in snake_case
    pub(crate) name: String,
    /// TypeScript
    #[arg(long)]
    pub(crate) ts: bool,
    /// A group: several tools in one script
    #[arg(long)]
    pub(crate) group: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "NAME.test.json is a list of cases:
  {\"name\": \"…\", \"tool\": \"…\", \"arguments\": {…}, \"result\": … | \"contains\": \"…\" | \"error\": \"code\",
   \"http\": [{\"method\": \"GET\", \"url\": \"https://…\", \"status\": 200, \"json\": … | \"text\": \"…\"}]}
Requests get the answers under \"http\" and nothing else.")]
pub(crate) struct TestTools {
    /// Whose tests [default: all]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Groups {
    /// All groups
    List,
    /// One group and its tools
    Show { name: String },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Skills {
    /// All skills
    List,
    /// One skill: what it is for, what it needs, its instructions
    Show { name: String },
    /// Look through a directory of skills, or one skill's, for faults and for what could be better
    Check {
        /// A directory of skills, or a skill's own [default: HOME/skills]
        directory: Option<PathBuf>,
    },
    /// Begin a skill: HOME/skills/NAME/SKILL.md
    New {
        /// Its name: lowercase letters, digits and hyphens
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Module {
    /// Install an npm package and make tools of its functions
    Add(AddModule),
    /// Check modules: module.json, the lock, what the package needs
    Check {
        /// A module's name or directory [default: all modules]
        #[arg(value_name = "NAME | DIR")]
        module: Option<String>,
    },
    /// All modules: package, tools, engine, state
    List,
    /// Remove a module and its packages
    Remove {
        /// The module's name
        name: String,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pinza module add dayjs
  pinza module add lodash --pick chunk,merge,groupBy
  pinza module add fast-xml-parser@5 --pick XMLParser --name xml
  pinza module add ./my-library

The package goes to HOME/modules/NAME, with npm, and none of its scripts is run. What it needs
is printed before it is enabled; on a terminal you are asked. Then its functions are drafted as
tools in module.json, with parameters and texts from the package's type declarations: read it,
and change it as you like.")]
pub(crate) struct AddModule {
    /// A package of the npm registry, with a version or range after @; or a directory or .tgz file
    #[arg(value_name = "PACKAGE[@RANGE]")]
    pub(crate) package: String,
    /// Only these functions; a class, or Class.method, for objects [default: the best documented]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(crate) pick: Vec<String>,
    /// The module's name [default: the package's]
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// Add a server: its tools become a group
    Add(AddServer),
    /// All servers: how they are reached, how many tools they have, what is held
    List,
    /// Start a server, or reach it, and show what it is and has; signs in where it wants that
    Test {
        /// The server's name
        name: String,
    },
    /// Forget a server, with its tokens
    Remove {
        /// The server's name
        name: String,
    },
    /// What servers show now that was not accepted: such tools are held
    Diff {
        /// The server's name [default: all servers]
        name: Option<String>,
    },
    /// Accept a server as it is now
    Accept {
        /// The server's name
        name: String,
    },
    /// Take over the servers that another program is configured with
    Import {
        /// Whose configuration
        agent: Agent,
        /// Another file than the usual one
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Let an agent use Pinza: adds it to the agent's configuration
    Install {
        /// Whose configuration
        agent: Agent,
        /// Another file than the usual one
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pinza mcp add files -- npx -y @modelcontextprotocol/server-filesystem /data
  pinza mcp add github https://api.githubcopilot.com/mcp/
  pinza mcp add db --variable DB_URL -- uvx some-server
  pinza mcp add wiki --header 'Authorization=Bearer ${env.WIKI_TOKEN}' https://wiki.example.com/mcp

The server is started once, its tools are shown, and it is written to config.toml. A command gets PATH, HOME and their
like, and the variables that are named here. ${env.NAME} stands for a variable of [env] or the encrypted store.")]
pub(crate) struct AddServer {
    /// Its name: a-z, 0-9, _ and -; its tools are called NAME__tool
    pub(crate) name: String,
    /// Where it is reached over HTTP
    #[arg(value_name = "URL", required_unless_present = "command", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// What starts it
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// A variable for the command: NAME, kept with `pinza env set`, or NAME=VALUE; may be given more than once
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) variable: Vec<String>,
    /// A header for the URL; may be given more than once
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) header: Vec<(String, String)>,
    /// One line about it for the list of groups [default: its own]
    #[arg(long)]
    pub(crate) summary: Option<String>,
    /// Only write it down
    #[arg(long)]
    pub(crate) no_start: bool,
}

/// Programs whose configuration of MCP servers Pinza knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Agent {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
}

#[derive(Debug, Args)]
#[command(after_help = "Without a choice, the core tools are printed: what a conversation starts with.")]
pub(crate) struct Schema {
    /// openai, anthropic or gemini
    #[arg(long)]
    pub(crate) provider: Provider,
    /// Every enabled tool
    #[arg(long, conflicts_with_all = ["group", "include", "profile"])]
    pub(crate) all: bool,
    /// The tools of a group
    #[arg(long, value_name = "NAME", conflicts_with_all = ["include", "profile"])]
    pub(crate) group: Option<String>,
    /// These tools and sets (read,group:web); adds to a profile
    #[arg(long, value_name = "ID,..", value_delimiter = ',')]
    pub(crate) include: Vec<String>,
    /// Not these tools and sets
    #[arg(long, value_name = "ID,..", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,
    /// The tools of a profile: minimal, coding, messaging, full
    #[arg(long)]
    pub(crate) profile: Option<Profile>,
    /// OpenAI's strict mode
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print what the provider's dialect loses instead of the definitions
    #[arg(long)]
    pub(crate) report: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Every value and where it came from
    Show,
    /// Set a value in config.toml, keeping its comments
    #[command(after_help = "Examples:
  pinza config set files.hardlinks allow
  pinza config set env.REGION eu
  pinza config set 'net.rewrite.\"https://api.example.com\"' http://127.0.0.1:9000
  pinza config set tools.disabled '[\"exec\"]'")]
    Set {
        /// A dotted key
        key: String,
        /// A TOML value; anything else is taken as text
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Open config.toml in $VISUAL or $EDITOR, and check what was saved
    Edit,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Env {
    /// Keep a variable
    #[command(after_help = "The value may come from stdin, so that it is in no shell's history:
  pinza env set API_KEY < key.txt")]
    Set {
        /// NAME, or NAME=VALUE
        name: String,
        /// The value; without it, stdin is read
        #[arg(allow_hyphen_values = true)]
        value: Option<String>,
    },
    /// The names of all kept variables (values are never printed)
    List,
    /// Forget variables
    Rm {
        #[arg(required = true)]
        names: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// All rules and the defaults
    List,
    /// Add a rule that allows
    Allow(RuleWords),
    /// Add a rule that asks
    Ask(RuleWords),
    /// Add a rule that denies
    Deny(RuleWords),
    /// Remove a rule by its number in `policy list`
    Revoke { number: usize },
    /// What would be decided for a call, and why
    Test(Call),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pinza policy allow exec --arg 'command=git *'
  pinza policy deny --tool 'http_*'
  pinza policy allow net.private --arg 'url=http://127.0.0.1:9000/*'

Deny beats ask beats allow. A command with ; & | ` $( or a line break never matches an allow.")]
pub(crate) struct RuleWords {
    /// The capability that the rule is about
    #[arg(required_unless_present_any = ["tool", "args"])]
    pub(crate) capability: Option<String>,
    /// Only for tools whose name matches this pattern
    #[arg(long, value_name = "GLOB")]
    pub(crate) tool: Option<String>,
    /// Only where an argument's text matches a pattern; may be given more than once
    #[arg(long = "arg", value_name = "NAME=GLOB", value_parser = pair)]
    pub(crate) args: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The project's directory [default: the current one]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The project is the one of the workspace, else of the current directory. When anything in its .pinza/
changes, it is no longer read until you trust it again. A project may add tools, ask, deny and switch tools off; it can
never allow anything."
)]
pub(crate) struct Trust {
    /// No longer read the project
    #[arg(long)]
    pub(crate) revoke: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// How well and how fast tools are found
    Search(BenchSearch),
    /// What conversations cost with groups and with every tool in every request
    Tokens(BenchTokens),
}

#[derive(Debug, Args)]
#[command(after_help = "A line of the catalog:
  {\"id\": \"…\", \"name\": \"…\", \"group\": \"…\", \"description\": \"…\",
   \"parameters\": [{\"name\": \"…\", \"description\": \"…\", \"enum\": […]}]}
A line of the queries, with the ids of the tools that answer it:
  {\"id\": \"…\", \"query\": \"…\", \"gold\": [\"…\"]}")]
pub(crate) struct BenchSearch {
    /// The tools, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: PathBuf,
    /// The queries, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Word vectors to use as well: a safetensors file with its tokenizer beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Four conversations are played with the real engine, over the built-in tools and a catalog of 14 groups, and every
request is counted whole with the o200k vocabulary: system prompt, listing, tools, all that was said. Nothing is sent."
)]
pub(crate) struct BenchTokens {
    /// A directory of group manifests in place of the catalog that comes with the program; it must have the tools
    /// that the conversations use
    #[arg(long, value_name = "DIR")]
    pub(crate) catalog: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    pub(crate) shell: Shell,
}

#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Without -p: at a terminal, a chat with editing and commands (/help shows them); elsewhere, a message
a line from stdin.

Examples:
  pinza chat -p 'What time is it in Tokyo?' --provider anthropic --model claude-sonnet-4-5
  pinza chat --provider openai --base-url http://127.0.0.1:11434/v1 --model qwen3
  pinza --json chat -p 'List the files here' --session work"
)]
pub(crate) struct Chat {
    /// One message; - reads it from stdin
    #[arg(short, long, value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// A provider of the configuration, or openai, openai-responses, anthropic, gemini
    #[arg(long, value_name = "P")]
    pub(crate) provider: Option<String>,
    /// The model's name
    #[arg(long, value_name = "M")]
    pub(crate) model: Option<String>,
    /// Where the provider's API is, as its own SDK takes it
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The variable with the key
    #[arg(long, value_name = "NAME")]
    pub(crate) api_key_env: Option<String>,
    /// How loaded tools reach the model: append, native or stable
    #[arg(long, value_name = "R")]
    pub(crate) reveal: Option<Reveal>,
    /// An agent of the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Go on with this session, or begin it
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Choose a session to go on with
    #[arg(long, conflicts_with_all = ["session", "prompt"])]
    pub(crate) resume: bool,
    /// Draw nothing twice and use no colours, for screen readers
    #[arg(long)]
    pub(crate) plain: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  pinza serve --stdio                                  for an agent that starts it
  pinza serve --http 127.0.0.1:7717 --expose full      MCP at http://127.0.0.1:7717/mcp
  pinza serve --http 0.0.0.0:7717 --token-env TOKEN    for other machines")]
pub(crate) struct Serve {
    /// Serve over HTTP [default: 127.0.0.1:7717]
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// Serve over stdin and stdout
    #[arg(long, conflicts_with_all = ["http", "token_env", "host"])]
    pub(crate) stdio: bool,
    /// What clients are shown: core tools and the means to reach the others (groups), only the means
    /// (search), every tool (full), or loaded groups as they are loaded (dynamic)
    #[arg(long, value_name = "WHAT", default_value = "groups")]
    pub(crate) expose: Expose,
    /// Only these tools and sets (read,group:web); adds to a profile
    #[arg(long, value_name = "ID,..", value_delimiter = ',')]
    pub(crate) include: Vec<String>,
    /// Not these tools and sets
    #[arg(long, value_name = "ID,..", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,
    /// The tools of a profile: minimal, coding, messaging, full
    #[arg(long)]
    pub(crate) profile: Option<Profile>,
    /// The environment variable with the token that clients have to send; needed beyond loopback
    #[arg(long, value_name = "NAME")]
    pub(crate) token_env: Option<String>,
    /// A name that other machines reach this one by; may be given more than once
    #[arg(long, value_name = "NAME", value_parser = host)]
    pub(crate) host: Vec<String>,
    /// Serve what MCP's conformance suite looks for, too
    #[arg(long, hide = true)]
    pub(crate) conformance: bool,
}

/// How much of the tools a client is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Expose {
    Groups,
    Search,
    Full,
    Dynamic,
}

/// Moves the global flags to the front. Left where they are, clap lets those after the command
/// replace those before it, and a `--deny` must never be lost.
pub(crate) fn hoist(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    const WITH_VALUE: [&str; 6] = ["--home", "--workspace", "--tools", "--allow", "--deny", "--env"];
    let mut arguments = arguments.peekable();
    let mut front: Vec<OsString> = arguments.next().into_iter().collect();
    let mut rest = Vec::new();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().unwrap_or_default();
        if text == "--" {
            rest.push(argument);
            break;
        }
        let takes_value = WITH_VALUE.contains(&text);
        let carries_value = text.split_once('=').is_some_and(|(flag, _)| WITH_VALUE.contains(&flag));
        if takes_value || carries_value {
            front.push(argument);
            front.extend(takes_value.then(|| arguments.next()).flatten());
        } else {
            rest.push(argument);
        }
    }
    front.into_iter().chain(rest).chain(arguments).collect()
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() {
        return Err("the name before '=' is empty".into());
    }
    Ok((name.into(), value.into()))
}

/// A name as `Host` has it, or an address.
fn host(text: &str) -> Result<String, String> {
    let is_name =
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || ['-', '.', '_'].contains(&c));
    if is_name || text.parse::<std::net::IpAddr>().is_ok() {
        return Ok(text.into());
    }
    Err("a host's name has letters, digits, '-' and '.', and no port".into())
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = pair(text)?;
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("'{name}' is not a variable's name"));
    }
    Ok((name, value))
}
