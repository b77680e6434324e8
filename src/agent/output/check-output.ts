import type { Fault } from '../../model/fault.ts'
import type { AssistantTurn } from '../../model/turn.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { appendRunLogEntry, type RunEnd, type RunState } from '../loop/run-state.ts'

/** Checks the answer of a run with an output schema. An invalid one gets a note, and the model may try again. */
export async function* checkOutput(state: RunState, turn: AssistantTurn): AsyncGenerator<RunEvent, RunEnd | undefined> {
  const { output, lastText, prompt } = state
  if (!output) return { reason: 'done' }
  const check = await output.check(lastText)
  if ('value' in check) {
    yield { type: 'output', value: check.value, isPartial: false }
    return { reason: 'done', output: check.value }
  }
  const isRefusal = turn.parts.some((part) => part.kind === 'text' && part.refusal)
  state.invalidOutputCount++
  if (isRefusal || state.invalidOutputCount > MAX_REPAIR_TURNS) {
    const message = isRefusal
      ? 'The model refused to answer.'
      : `The answer of the model does not fit the output schema: ${check.problem}`
    const fault: Fault = { kind: isRefusal ? 'policy' : 'decode', code: 'output-invalid', message }
    yield appendRunLogEntry(state, { kind: 'fault', fault: { ...fault }, prompt })
    return { reason: 'fault', fault }
  }
  yield appendRunLogEntry(state, { kind: 'note', text: formatRepairNote(check.problem) })
  return undefined
}

const MAX_REPAIR_TURNS = 2

function formatRepairNote(problem: string): string {
  return `Your answer is not valid: ${problem}\nAnswer again with the whole corrected JSON value and nothing else.`
}
