import { describeBackgroundState } from '../../../tool/builtin/background-commands.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import type { AppParts } from '../app-parts.ts'
import { clipLine, type StyledLine, styledLine } from '../term/styled-line.ts'

/** `/tasks`: the commands and subagents in the background; with an id its new output, with `stop` its end. */
export async function manageTasks({ ui, session }: AppParts, words: string): Promise<void> {
  const commands = session.agent.host.processes.listBackground?.() ?? []
  const [first = '', second = ''] = words.trim().split(/\s+/)
  const id = first === 'stop' ? second : first
  if (id !== '') {
    const found = commands.find((one) => one.id === id)
    if (!found) return ui.notify(`There is no background command ${id}; /tasks lists them.`, 'warn')
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
      { text: `  ${describeBackgroundState(one)}`, tone: 'quiet' },
    ]),
    ...subagents.map(({ name, session: id_, callCount }): StyledLine => [
      { text: `${escapeForTerminal(name)} `, tone: 'accent' },
      { text: `subagent, session ${id_}, ${callCount} calls`, tone: 'quiet' },
    ]),
  ]
  if (rows.length === 0) return ui.notify('Nothing runs in the background.')
  ui.print([[], ...rows.map((row) => clipLine(row, ui.viewOptions.width))])
  ui.notify('/tasks c1 shows its last output, /tasks stop c1 stops it.')
}
