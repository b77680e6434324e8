import type { RehearsalScript, ScriptedCall } from '../script/script.ts'

export function createParallelScript(calls: readonly ScriptedCall[] = EIGHT_READ_CALLS): RehearsalScript {
  return {
    about: `Makes ${calls.length} calls in one turn.`,
    steps: [{ say: 'All at once.', call: calls }, { say: `All ${calls.length} calls were answered.` }],
  }
}

const EIGHT_READ_CALLS: readonly ScriptedCall[] = Array.from({ length: 8 }, (_none, at) => ({
  name: 'read_file',
  args: { absolute_path: `{cwd}/file-${at + 1}.txt` },
}))
