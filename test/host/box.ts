import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandRequest, CommandResult } from '../../src/host/host.ts'
import type { SandboxOptions } from '../../src/host/sandbox/sandbox.ts'
import { place, type Place } from './place.ts'

/** A place whose commands run in the sandbox, with a home folder that holds a key. */
export interface BoxedPlace extends Place {
  readonly home: string
  run(command: string, more?: Partial<CommandRequest>): Promise<CommandResult>
}

/** Makes one. */
export function boxedPlace(more: Partial<SandboxOptions> = {}): BoxedPlace {
  const made = place((base) => {
    const home = join(base, 'home')
    mkdirSync(join(home, '.ssh'), { recursive: true })
    mkdirSync(join(home, '.config/dragoman'), { recursive: true })
    mkdirSync(join(home, '.cargo/bin'), { recursive: true })
    mkdirSync(join(home, '.npm/_cacache'), { recursive: true })
    writeFileSync(join(home, '.ssh/id_rsa'), 'canary-key\n')
    writeFileSync(join(home, '.npmrc'), 'canary-token\n')
    writeFileSync(join(home, '.config/dragoman/config.json'), 'canary-config\n')
    writeFileSync(join(home, '.cargo/bin/tool'), '#!/bin/sh\necho tool ran\n', { mode: 0o755 })
    writeFileSync(join(home, '.npm/_cacache/package'), 'cached\n')
    return { sandbox: { mode: 'on', home, hiddenFolders: [join(base, 'ours')], ...more } }
  })
  return {
    ...made,
    home: join(made.base, 'home'),
    run: (command, other = {}) => made.host.processes.run({ command, folder: made.ws, ...other }),
    [Symbol.dispose]: () => made[Symbol.dispose](),
  }
}

/** The `skip` option of tests that need a sandbox on this machine. */
export async function skipWithoutBox(): Promise<false | string> {
  using at = boxedPlace({ mode: 'auto' })
  const state = await at.host.sandbox()
  return state.isActive ? false : `no sandbox here: ${state.why}`
}
