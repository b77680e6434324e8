import { CLI_COMMANDS } from '../commands.ts'
import type { CliCommandSpec } from '../command/spec.ts'
import { COMMAND_SPECS } from '../command/specs.ts'
import { EXIT_CODE_DESCRIPTIONS, RUN_EXAMPLES } from './run-help.ts'
import { type CliOption, type CliOptions, RUN_OPTIONS } from './options.ts'

/** The help of a command, or of one of its subcommands; without a name, of all. */
export function formatHelp(name?: string, subcommand?: string): string {
  const page = name === undefined || !Object.hasOwn(COMMAND_SPECS, name) ? undefined : COMMAND_SPECS[name]
  if (name === undefined || !page) return formatRunHelp()
  return subcommand !== undefined && page.subcommands && Object.hasOwn(page.subcommands, subcommand)
    ? formatSubcommandHelp(name, page, subcommand)
    : formatCommandHelp(name, page)
}

function formatRunHelp(): string {
  const commands = Object.entries(CLI_COMMANDS).filter(([, { hidden }]) => !hidden)
  return joinBlocks([
    formatUsage(['dragoman [options] [prompt]', 'dragoman <command> [options]']),
    'Works on a prompt with tools, in the current folder, with whatever model you have. On a terminal it is a conversation; with -p, one answer.',
    ...formatOptionGroups(RUN_OPTIONS),
    formatHelpTable(
      'Commands (dragoman <command> --help tells more)',
      commands.map(([name, { about }]) => [name, about]),
    ),
    formatExamples(RUN_EXAMPLES),
    `Exit codes: ${EXIT_CODE_DESCRIPTIONS.map(([code, about]) => `${code} ${about}`).join(', ')}.`,
  ])
}

function formatCommandHelp(
  name: string,
  { usage: usageLines, about, subcommands = {}, options, examples: visibleItems }: CliCommandSpec,
): string {
  return joinBlocks([
    formatUsage(usageLines.map((usageLine) => `dragoman ${name} ${usageLine}`.trimEnd())),
    ...about,
    formatHelpTable(
      'Subcommands',
      Object.entries(subcommands).map(([subcommand, { takes = '', about: what }]) => [
        `${subcommand} ${takes}`.trimEnd(),
        what,
      ]),
    ),
    ...formatOptionGroups(options),
    formatExamples(visibleItems),
  ])
}

function formatSubcommandHelp(name: string, { subcommands = {}, options }: CliCommandSpec, subcommand: string): string {
  const {
    takes = '',
    about = '',
    options: optionNames = Object.keys(options),
    examples: visibleItems = [],
  } = subcommands[subcommand] ?? {}
  const chosen = Object.entries(options).filter(([option]) => optionNames.includes(option) || option === 'help')
  return joinBlocks([
    formatUsage([`dragoman ${name} ${subcommand} ${takes}`.trimEnd() + (chosen.length > 1 ? ' [options]' : '')]),
    `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
    ...formatOptionGroups(Object.fromEntries(chosen)),
    formatExamples(visibleItems),
  ])
}

/** Options, group by group. */
function formatOptionGroups(options: CliOptions): string[] {
  const visibleItems = Object.entries(options).filter(([, { hidden }]) => !hidden)
  const column = labelColumnWidth(visibleItems.map(([name, option]) => formatOptionLabel(name, option)))
  const groups = [...new Set(visibleItems.map(([, { group }]) => group))]
  return groups.map((group) =>
    formatHelpTable(
      group ?? 'Options',
      visibleItems
        .filter(([, option]) => option.group === group)
        .map(([name, option]) => [formatOptionLabel(name, option), option.about]),
      column,
    ),
  )
}

/** An option as it is written: `-m, --model <name>`. */
export function formatOptionLabel(name: string, { short, takes }: CliOption): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`
}

const HELP_WIDTH = 96
/** Labels longer than this have a line of their own. */
const MAX_LABEL_WIDTH = 28

function formatHelpTable(
  title: string,
  rows: readonly (readonly [label: string, about: string])[],
  column = labelColumnWidth(rows.map(([label]) => label)),
): string {
  if (rows.length === 0) return ''
  const lines = rows.flatMap(([label, about]) => {
    const [first = '', ...more] = wrapWords(about, HELP_WIDTH - column - 4)
    const rest = more.map((line) => ' '.repeat(column + 4) + line)
    return label.length > column
      ? [`  ${label}`, `${' '.repeat(column + 4)}${first}`, ...rest]
      : [`  ${label.padEnd(column)}  ${first}`, ...rest]
  })
  return [`${title}:`, ...lines].join('\n')
}

function labelColumnWidth(labels: readonly string[]): number {
  return Math.max(...labels.map(({ length }) => length).filter((length) => length <= MAX_LABEL_WIDTH), 0)
}

function formatUsage(lines: readonly string[]): string {
  return lines.map((line, at) => `${at === 0 ? 'Usage: ' : '       '}${line}`).join('\n')
}

function formatExamples(lines: readonly string[]): string {
  return ['Examples:', ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Blocks with an empty line between them; sentences are wrapped, what has its own lines is not. */
function joinBlocks(blocks: readonly string[]): string {
  const visibleItems = blocks.filter((block) => block !== '')
  return `${visibleItems.map((block) => (block.includes('\n') ? block : wrapWords(block, HELP_WIDTH).join('\n'))).join('\n\n')}\n`
}

function wrapWords(sentence: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of sentence.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
