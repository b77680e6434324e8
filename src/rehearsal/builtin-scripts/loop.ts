import type { RehearsalScript, ScriptedCall } from '../script/script.ts'

/** `times` turns with one call each. */
export function createLoopScript(times: number, call: ScriptedCall = LIST_DIRECTORY_CALL): RehearsalScript {
  return {
    about: `Calls ${call.name} ${times} times, one call a turn.`,
    steps: [{ loop: [{ say: 'Turn {n}.', call: [call] }], times }],
    end: { say: `All ${times} turns are done.` },
  }
}

const LIST_DIRECTORY_CALL: ScriptedCall = { name: 'list_directory', args: { path: '{cwd}' } }
