// The man page, in the macros that every man knows.

/** The man page of the command, from the tables of its options and commands. */
export function manPage({
  CLI_COMMANDS,
  COMMAND_SPECS,
  RUN_OPTIONS,
  RUN_EXAMPLES,
  EXIT_CODE_DESCRIPTIONS,
  ENVIRONMENT_VARIABLES,
  version,
}) {
  const commands = Object.entries(CLI_COMMANDS).filter(([, { hidden }]) => !hidden)
  return [
    '.\\" Written by npm run docs; the sources are in src/cli/command.',
    `.TH DRAGOMAN 1 "" "Dragoman ${version}" "User Commands"`,
    '.SH NAME',
    'dragoman \\- a coding agent for the terminal, for any language model',
    '.SH SYNOPSIS',
    '.B dragoman',
    plain('[options] [prompt]'),
    '.br',
    '.B dragoman',
    plain('<command> [options]'),
    '.SH DESCRIPTION',
    plain(
      'Works on a prompt with tools, in the current folder, with whatever model you have. On a terminal it is a conversation; with -p, or in a pipe, it gives one answer. With nothing set up it shows three ways to begin.',
    ),
    '.SH OPTIONS',
    ...options(RUN_OPTIONS),
    '.SH COMMANDS',
    ...commands.flatMap(([name, { about }]) => command(name, about, COMMAND_SPECS[name])),
    '.SH EXAMPLES',
    ...listing(RUN_EXAMPLES),
    '.SH "EXIT STATUS"',
    ...EXIT_CODE_DESCRIPTIONS.flatMap(([code, about]) => ['.TP', `.B ${code}`, plain(about)]),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT_VARIABLES.flatMap(([name, about]) => ['.TP', bold(name), plain(about)]),
    '.SH FILES',
    ...FILES.flatMap(([path, about]) => ['.TP', `.I ${escaped(path)}`, plain(about)]),
    '',
  ].join('\n')
}

const FILES = [
  ['~/.config/dragoman/config.json', 'your settings'],
  ['.dragoman/config.json', 'the settings of a project, used where the folder is trusted'],
  ['/etc/dragoman/config.json', 'the settings of a machine'],
  ['~/.config/dragoman/AGENTS.md', 'instructions for every project; AGENTS.md in a project for that project'],
  ['~/.config/dragoman/commands/', 'slash commands of your own, a Markdown file each'],
  ['~/.local/share/dragoman/sessions/', 'the logs of sessions, a folder for each project'],
  ['~/.local/share/dragoman/keys.json', 'stored keys; only you can read it'],
]

function command(name, about, { usage, about: paragraphs, subcommands = {}, options: own, examples }) {
  const shown = Object.fromEntries(Object.entries(own).filter(([option]) => option !== 'help'))
  return [
    `.SS ${escaped(name)}`,
    plain(`${capital(about)}.`),
    ...usage.flatMap((way, at) => [at === 0 ? '.PP' : '.br', `.B dragoman ${escaped(name)}`, plain(way)]),
    ...paragraphs.flatMap((paragraph) => ['.PP', plain(paragraph)]),
    ...Object.entries(subcommands).flatMap(([verb, { takes = '', about: what }]) => [
      '.TP',
      bold(`${verb} ${takes}`.trimEnd()),
      plain(what),
    ]),
    ...options(shown),
    '.PP',
    'For example:',
    ...listing(examples),
  ]
}

function options(table) {
  return Object.entries(table)
    .filter(([, { hidden }]) => !hidden)
    .flatMap(([name, { short, takes, about }]) => [
      '.TP',
      [short && `\\fB${escaped(`-${short}`)}\\fR, `, `\\fB${escaped(`--${name}`)}\\fR`, takes && ` ${escaped(takes)}`]
        .filter(Boolean)
        .join(''),
      plain(about),
    ])
}

function listing(lines) {
  return ['.PP', '.RS 4', '.nf', ...lines.map(plain), '.fi', '.RE']
}

const bold = (text) => `\\fB${escaped(text)}\\fR`
const capital = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** A line of text: a full stop or an apostrophe at its beginning would be a request. */
function plain(text) {
  return escaped(text).replace(/^[.']/, '\\&$&')
}

function escaped(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('“', '\\(lq')
    .replaceAll('”', '\\(rq')
    .replaceAll('’', '\\(cq')
    .replaceAll('…', '\\&...')
}
