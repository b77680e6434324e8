import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import type { Front } from './front.ts'
import { edit } from './input/editor.ts'

/** Lets the person write what they want to say in an editor of their own. */
export async function writeInEditor(front: Front, config: Config): Promise<void> {
  const text = await edited(front, front.state.editor.text, 'message.md', config)
  if (text !== undefined)
    front.update((state) => ({ ...state, editor: edit(state.editor, { do: 'set', text: text.trimEnd() }) }))
}

async function edited(front: Front, text: string, name: string, config: Config): Promise<string | undefined> {
  const [program = 'vi', ...args] = (config.editor ?? process.env['VISUAL'] ?? process.env['EDITOR'] ?? 'vi').split(
    /\s+/,
  )
  const place = mkdtempSync(join(tmpdir(), 'dragoman-'))
  const path = join(place, name)
  try {
    writeFileSync(path, text, { mode: 0o600 })
    const code = await front.lend(
      () =>
        new Promise<number | null>((resolve) => {
          const child = spawn(program, [...args, path], { stdio: 'inherit' })
          child.on('close', resolve)
          child.on('error', () => resolve(-1))
        }),
    )
    if (code !== 0) {
      front.say(`The editor ${program} did not end well; nothing was taken over.`, 'warn')
      return undefined
    }
    return readFileSync(path, 'utf8')
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
