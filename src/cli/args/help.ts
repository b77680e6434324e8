import { isCommandName } from '../commands.ts'
import { type CliCommandSpec, listExamples } from '../command/spec.ts'
import { COMMAND_SPECS } from '../command/specs.ts'
import { EXIT_CODE_DESCRIPTIONS, RUN_ABOUT, RUN_EXAMPLES } from './run-help.ts'
import { type CliOption, type CliOptions, RUN_OPTIONS } from './options.ts'

/** The help of a command, or of one of its subcommands; without a name, of all. */
export function formatHelp(name?: string, subcommand?: string): string {
  if (name === undefined || !isCommandName(name)) return formatRunHelp()
  const spec = COMMAND_SPECS[name]
  return subcommand !== undefined && Object.hasOwn(spec.subcommands ?? {}, subcommand)
    ? formatSubcommandHelp(name, spec, subcommand)
    : formatCommandHelp(name, spec)
}

function formatRunHelp(): string {
  return joinBlocks([
    formatUsage(['dragoman [options] [prompt]', 'dragoman <command> [options]']),
    RUN_ABOUT,
    ...formatOptionGroups(RUN_OPTIONS),
    formatHelpTable(
      'Commands (details: dragoman <command> --help)',
      Object.entries(COMMAND_SPECS).map(([name, { summary }]) => [name, summary]),
    ),
    formatExamples(RUN_EXAMPLES),
    `Exit codes: ${EXIT_CODE_DESCRIPTIONS.map(([code, about]) => `${code} ${about}`).join(', ')}.`,
  ])
}

function formatCommandHelp(name: string, spec: CliCommandSpec): string {
  const subcommandRows = Object.entries(spec.subcommands ?? {}).map(
    ([subcommand, { takes = '', about }]) => [`${subcommand} ${takes}`.trimEnd(), about] as const,
  )
  return joinBlocks([
    formatUsage(spec.usage.map((usageLine) => `dragoman ${name} ${usageLine}`.trimEnd())),
    ...spec.about,
    formatHelpTable('Subcommands', subcommandRows),
    ...formatOptionGroups(spec.options),
    formatExamples(listExamples(spec)),
  ])
}

function formatSubcommandHelp(name: string, { subcommands = {}, options }: CliCommandSpec, subcommand: string): string {
  const { takes = '', about = '', options: taken, examples = [] } = subcommands[subcommand] ?? {}
  const chosen = Object.entries(options).filter(([option]) => !taken || taken.includes(option) || option === 'help')
  return joinBlocks([
    formatUsage([`dragoman ${name} ${subcommand} ${takes}`.trimEnd() + (chosen.length > 1 ? ' [options]' : '')]),
    `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
    ...formatOptionGroups(Object.fromEntries(chosen)),
    formatExamples(examples),
  ])
}

function formatOptionGroups(options: CliOptions): string[] {
  const visible = Object.entries(options)
    .filter(([, { hidden }]) => !hidden)
    .map(([name, option]) => ({ label: formatOptionLabel(name, option), ...option }))
  const column = labelColumnWidth(visible.map(({ label }) => label))
  const groups = [...new Set(visible.map(({ group }) => group))]
  return groups.map((group) => {
    const rows = visible.flatMap(({ label, about, ...option }) =>
      option.group === group ? [[label, about] as const] : [],
    )
    return formatHelpTable(group ?? 'Options', rows, column)
  })
}

/** An option as it is written: `-m, --model <name>`. */
function formatOptionLabel(name: string, { short, takes }: CliOption): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`
}

const HELP_WIDTH = 96
/** Longer labels have a line of their own. */
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
  return `${blocks
    .filter((block) => block !== '')
    .map((block) => (block.includes('\n') ? block : wrapWords(block, HELP_WIDTH).join('\n')))
    .join('\n\n')}\n`
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
