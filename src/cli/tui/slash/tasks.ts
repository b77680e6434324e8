import { describeBackgroundState } from '../../../tool/builtin/background-commands.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import type { AppParts } from '../app-parts.ts'
import { clipLine, type StyledLine, styledLine } from '../term/styled-line.ts'

/** `/tasks`: the commands and subagents in the background; an id shows its output, `stop` ends it, `keep` lets it go on after the session. */
export async function manageTasks({ ui, session }: AppParts, words: string): Promise<void> {
  const commands = session.agent.host.processes.listBackground?.() ?? []
  const [first = '', second = ''] = words.trim().split(/\s+/)
  const id = first === 'stop' || first === 'keep' ? second : first
  if (id === '' && first !== '')
    return ui.notify(`Which one? For example /tasks ${first} c1; /tasks lists them.`, 'warn')
  if (id !== '') {
    const found = commands.find((one) => one.id === id)
    if (!found) return ui.notify(`There is no background command ${id}; /tasks lists them.`, 'warn')
    if (first === 'keep') {
      const problem = found.keep()
      return problem === undefined
        ? ui.notify(`${found.id} goes on after this session. When you resume it, /tasks lists ${found.id} again.`)
        : ui.notify(`${found.id} cannot be kept: ${problem}.`, 'warn')
    }
    if (first === 'stop') await found.stop()
    const output = escapeForTerminal(found.readRecent().trimEnd(), 'tool-output')
    const rows = output === '' ? [] : output.split('\n').map((row) => styledLine(`  ${row}`, 'quiet'))
    return ui.print([[], styledLine(`${found.id}: ${describeBackgroundState(found)}`, 'strong'), ...rows])
  }
  const { subagents = [] } = ui.state.conversation
  const rows: StyledLine[] = [
    ...commands.map((one): StyledLine => [
      { text: `${one.id} `, tone: 'accent' },
      { text: escapeForTerminal(one.command, 'file-name') },
      { text: `  ${describeBackgroundState(one)}${one.isKept && !one.end ? ', kept' : ''}`, tone: 'quiet' },
    ]),
    ...subagents.map(({ name, session: id_, callCount }): StyledLine => [
      { text: `${escapeForTerminal(name)} `, tone: 'accent' },
      { text: `subagent, session ${id_}, ${callCount} calls`, tone: 'quiet' },
    ]),
  ]
  if (rows.length === 0) return ui.notify('Nothing runs in the background.')
  ui.print([[], ...rows.map((row) => clipLine(row, ui.viewOptions.width))])
  ui.notify('/tasks c1 shows its last output, /tasks stop c1 stops it, /tasks keep c1 lets it go on after the session.')
}
