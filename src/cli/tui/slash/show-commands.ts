import { countContextTokens, estimateTokens, countHistoryChars } from '../../../agent/history/compact.ts'
import { findPinnedNotes } from '../../../session/derive-model-history.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { formatNumber } from '../../output/format.ts'
import { abbreviateHome } from '../../paths/folders.ts'
import { readInstructions } from '../../setup/instructions.ts'
import type { AppParts } from '../app-parts.ts'
import { findCallPart, toFinishedCall } from '../session-history.ts'
import type { SubagentActivity } from '../subagent-activity.ts'
import { styledLine, styledLines, clipLine, type StyledLine, type TextTone, wrapLine } from '../term/styled-line.ts'
import { renderCall } from '../view/call.ts'
import { renderMarkdown } from '../view/markdown.ts'
import { BASIC_KEY_DESCRIPTIONS } from './keys.ts'
import { runCliSubcommand } from './run-cli.ts'
import type { SlashCommand } from './slash-command.ts'

export function showSlashHelp({ ui, commands }: AppParts, builtIn: readonly SlashCommand[]): void {
  const all = commands.list()
  const widest = Math.max(...all.map(({ name, takes = '' }) => name.length + takes.length)) + 3
  const width = Math.min(widest, 30)
  const row = ({ name, takes = '', about, aliases = [] }: SlashCommand): StyledLine => [
    { text: `/${name} `, tone: 'accent' },
    { text: `${takes} `.padEnd(width - name.length - 1), tone: 'quiet' },
    { text: escapeForTerminal(about) },
    { text: aliases.length === 0 ? '' : `  (also ${aliases.map((alias) => `/${alias}`).join(', ')})`, tone: 'quiet' },
  ]
  const others = all.filter((command) => !builtIn.includes(command))
  ui.print([
    [],
    ...builtIn.map(row),
    ...(others.length === 0 ? [] : [[], styledLine('Custom commands, and prompts of MCP servers:', 'quiet')]),
    ...others.map(row),
    [],
    ...BASIC_KEY_DESCRIPTIONS.map(([keys, about]): StyledLine => [
      { text: keys.padEnd(24), tone: 'accent' },
      { text: about },
    ]),
  ])
}

export function showTools({ ui, session }: AppParts): void {
  const rows = session.agent.toolbox.specs.map(({ name, description }): StyledLine => [
    { text: `${name.padEnd(24)} `, tone: 'accent' },
    { text: escapeForTerminal(description.split('\n', 1)[0] ?? '') },
  ])
  ui.print([[], ...rows.map((row) => clipLine(row, ui.viewOptions.width))])
}

export async function showSkills({ ui, folder }: AppParts): Promise<void> {
  const { loadSkills } = await import('../../prompt-files/skill-files.ts')
  const skills = loadSkills(folder)
  if (skills.length === 0)
    return ui.notify('There are no skills. A skill is a folder with a SKILL.md, in .agents/skills or .claude/skills.')
  ui.print([
    [],
    ...skills.map(({ name, about, path, isForModel }): StyledLine => [
      { text: `/${name} `, tone: 'accent' },
      { text: escapeForTerminal(about) },
      {
        text: `  ${escapeForTerminal(abbreviateHome(path), 'file-name')}${isForModel ? '' : ' (only you call it)'}`,
        tone: 'quiet',
      },
    ]),
  ])
}

/** The servers of this session; their tools have the names that the model sees. */
export async function showMcpServers(app: AppParts): Promise<void> {
  const { servers } = app.session
  if (!servers || servers.list.length === 0) return runCliSubcommand(app, ['mcp', 'list'])
  const { formatMcpServers } = await import('../../command/mcp/inspect.ts')
  app.ui.print([[], ...styledLines(formatMcpServers(servers).trimEnd())])
}

export function showMemory({ ui, folder }: AppParts): void {
  const { files: instructions, memories, notices } = readInstructions(folder)
  const files = [...instructions, ...memories]
  for (const notice of notices) ui.notify(escapeForTerminal(notice), 'warn')
  if (files.length === 0)
    return ui.notify('No instructions or memories. Add an AGENTS.md, or ask the model to remember something.')
  for (const { path, text } of files)
    ui.print([
      [],
      styledLine(escapeForTerminal(abbreviateHome(path), 'file-name'), 'accent'),
      ...renderMarkdown(escapeForTerminal(text.trim()), ui.viewOptions),
    ])
}

/** Shows the running call, or else the last one, with all its output. */
export function showLastCall({ ui, session }: AppParts): void {
  const { subagents = [] } = ui.state.conversation
  if (subagents.length > 0) return ui.print(subagents.flatMap(renderSubagent))
  const running = ui.state.conversation.live.find((block) => block.kind === 'call' && block.call.status === 'executing')
  if (running?.kind === 'call') {
    const seconds = Math.floor((Date.now() - running.since) / 1000)
    const head = renderCall(running.call, ui.viewOptions, { seconds, open: true })
    const output = escapeForTerminal(running.progress.trimEnd(), 'tool-output')
    return ui.print([[], ...head, ...output.split('\n').map((row) => styledLine(`  ${row}`, 'quiet'))])
  }
  const { entries, turns } = session.agent.session
  const entry = entries.findLast((one) => one.kind === 'result')
  if (!entry) return ui.notify('No tool has run yet.', 'warn')
  const finished = toFinishedCall(entry, findCallPart(turns, entry.result.id))
  ui.print([[], ...renderCall(finished, ui.viewOptions, { open: true })])
}

/** All that a subagent has done so far. */
function renderSubagent({ name, session, lines }: SubagentActivity): StyledLine[] {
  const head = styledLine(`${escapeForTerminal(name)} (session ${session})`, 'strong')
  const rows = escapeForTerminal(lines.join('\n'), 'tool-output').split('\n')
  return [[], head, ...rows.map((row) => styledLine(`  ${row}`, 'quiet'))]
}

/** `/hooks`: the commands that run at events, and where they come from. */
export function showHooks({ ui, session }: AppParts): void {
  const rows = session.hooks.map(({ event, matcher, command, source, isTrusted }): StyledLine => [
    { text: `${event} `, tone: 'accent' },
    { text: matcher === undefined ? '' : `${escapeForTerminal(matcher)} ` },
    { text: escapeForTerminal(command) },
    { text: escapeForTerminal(`  (${source}${isTrusted ? '' : ', in the sandbox'})`), tone: 'quiet' },
  ])
  if (rows.length === 0)
    return ui.notify(
      'No hooks. They are set under “hooks” in your settings, in .claude/settings.json or in .gemini/settings.json.',
    )
  ui.print([[], ...rows.flatMap((row) => wrapLine(row, ui.viewOptions.width))])
}

/** `/agents`: the agents that can get tasks, with their files. */
export function showAgents({ ui, session }: AppParts): void {
  const rows = session.agents.flatMap(({ name, description, source, model, tools, isReadOnly }): StyledLine[] => {
    const about = [source ?? 'built in', model, tools?.join(', ') ?? (isReadOnly ? 'read-only' : undefined)]
    return [
      [
        { text: `${escapeForTerminal(name)} `, tone: 'accent' },
        { text: escapeForTerminal(`(${about.filter((one) => one !== undefined).join('; ')})`), tone: 'quiet' },
      ],
      styledLine(`  ${escapeForTerminal(description.replace(/\s+/g, ' '))}`),
    ]
  })
  ui.print([[], ...rows.flatMap((row) => wrapLine(row, ui.viewOptions.width))])
  ui.notify(
    'Agents are Markdown files in .dragoman/agents, .claude/agents or .agents/agents, here or in your home folder.',
  )
}

/** `/context`: what fills the context window, by estimate; the total is the count of the vendor, if there is one. */
export async function showContextUsage({ ui, session: active }: AppParts): Promise<void> {
  const { session, system, toolbox, model, catalog } = active.agent
  const pinned = findPinnedNotes(session.entries).reduce((sum, { text }) => sum + text.length, 0)
  const parts: readonly (readonly [string, number])[] = [
    ['System prompt', system.length],
    ['Tools', JSON.stringify(toolbox.specs).length],
    ['Environment, instructions, memories', pinned],
    ['Conversation', Math.max(countHistoryChars(session.turns) - pinned, 0)],
  ]
  const window = model.window ?? (await catalog?.())?.card(model.origin)?.window
  const counted = countContextTokens(session.turns)
  const estimate = parts.reduce((sum, [, characters]) => sum + estimateTokens(characters), 0)
  const used = session.turns.some((turn) => turn.role === 'assistant' && turn.usage) ? counted : estimate
  const share = window === undefined ? '' : ` of ${formatNumber(window)} (${Math.round((used / window) * 100)} %)`
  const { width, ascii } = ui.viewOptions
  const rows = parts.map(([name, characters], at): StyledLine => [
    { text: `  ${ascii ? PART_LETTERS[at] : '■'} `, tone: PART_TONES[at] ?? 'plain' },
    { text: name.padEnd(36) },
    { text: `about ${formatNumber(estimateTokens(characters))}`, tone: 'quiet' },
  ])
  const bar = renderContextBar(
    parts.map(([, characters]) => estimateTokens(characters)),
    { total: Math.max(window ?? estimate, estimate, 1), width: Math.min(width - 4, 60), isAscii: ascii === true },
  )
  ui.print([[], styledLine(`${formatNumber(used)} tokens${share}`, 'strong'), bar, ...rows])
  ui.notify(
    window === undefined ? 'The context window of this model is unknown.' : '/compact summarises the conversation.',
  )
}

const PART_TONES: readonly TextTone[] = ['accent', 'good', 'warn', 'user']
const PART_LETTERS = ['S', 'T', 'E', 'C'] as const

/** The context window as a bar: a piece for each part, and the rest free. A part that is there has at least one cell. */
function renderContextBar(
  tokens: readonly number[],
  { total, width, isAscii }: { readonly total: number; readonly width: number; readonly isAscii: boolean },
): StyledLine {
  const cells = tokens.map((count) => (count === 0 ? 0 : Math.max(Math.round((count / total) * width), 1)))
  const free = Math.max(width - cells.reduce((sum, count) => sum + count, 0), 0)
  return [
    { text: '  ' },
    ...cells.map((count, at) => ({
      text: (isAscii ? (PART_LETTERS[at] ?? '') : '■').repeat(count),
      tone: PART_TONES[at] ?? 'plain',
    })),
    { text: (isAscii ? '.' : '□').repeat(free), tone: 'quiet' as const },
  ]
}
