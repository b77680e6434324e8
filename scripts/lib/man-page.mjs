// The man page, in the standard man macros.

/** The man page of the command, from the tables of its options and commands. */
export function manPage({
  COMMAND_SPECS,
  RUN_OPTIONS,
  RUN_ABOUT,
  RUN_EXAMPLES,
  listExamples,
  EXIT_CODE_DESCRIPTIONS,
  ENVIRONMENT_VARIABLES,
  version,
}) {
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
    plain(`${RUN_ABOUT} Without a key or a local model server, it offers to set one up.`),
    '.SH OPTIONS',
    ...options(RUN_OPTIONS),
    '.SH COMMANDS',
    ...Object.entries(COMMAND_SPECS).flatMap(([name, spec]) => command(name, spec, listExamples(spec))),
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
  ['.dragoman/config.json', 'settings of a project, used if the folder is trusted'],
  ['/etc/dragoman/config.json', 'settings of the machine'],
  ['~/.config/dragoman/AGENTS.md', 'instructions for every project; AGENTS.md in a project for that project'],
  ['~/.config/dragoman/commands/', 'your own slash commands, one Markdown file each'],
  ['~/.local/share/dragoman/sessions/', 'session logs, one folder per project'],
  ['~/.local/share/dragoman/keys.json', 'stored keys, readable only by you'],
]

function command(name, { summary, usage, about: paragraphs, subcommands = {}, options: own }, examples) {
  const shown = Object.fromEntries(Object.entries(own).filter(([option]) => option !== 'help'))
  return [
    `.SS ${escaped(name)}`,
    plain(`${capital(summary)}.`),
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

/** A line of text: a full stop or an apostrophe at its beginning would start a macro. */
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
