import { visible } from '../output/visible.ts'
import { line } from './term/line.ts'
import type { Desk } from './slash/slash.ts'

/** `!command`: the person's own command, run as they typed it; the model is told what came of it. */
export async function runBang({ front, agent, folder, talk }: Desk, command: string): Promise<void> {
  if (command === '') return
  if (talk.isBusy) return front.say('The model is working; stop it first (Esc).', 'warn')
  front.print([[], line(`! ${visible(command)}`, 'user')])
  front.update((state) => ({ ...state, running: Date.now() }))
  const end = await agent().host.processes.run({ command, folder })
  front.update(({ running: _unused, ...state }) => state)
  const output = end.output.trimEnd()
  const code = end.exitCode === 0 ? '' : `\n[exit code ${end.exitCode ?? end.signal ?? 'unknown'}]`
  front.print(
    visible(output + code)
      .split('\n')
      .map((row) => line(row)),
  )
  agent().session.append({
    kind: 'note',
    text: `The person ran a command of their own:\n$ ${command}\n${output}${code}`,
  })
}
