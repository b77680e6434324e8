import type { Script, ScriptedCall } from '../script.ts'

/** So many calls in one turn, and a sentence when all of them were answered. */
export function parallel(calls: readonly ScriptedCall[] = EIGHT): Script {
  return {
    about: `Makes ${calls.length} calls in one turn.`,
    steps: [{ say: 'All at once.', call: calls }, { say: `All ${calls.length} calls were answered.` }],
  }
}

const EIGHT: readonly ScriptedCall[] = Array.from({ length: 8 }, (_none, at) => ({
  name: 'read_file',
  args: { absolute_path: `{cwd}/file-${at + 1}.txt` },
}))
