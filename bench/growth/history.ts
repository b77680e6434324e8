import type { AssistantTurn, CallPart, ResultPart, Turn, WireId } from '../../src/model/turn.ts'
import type { EntryBody } from '../../src/session/log/entry.ts'
import type { SessionLog } from '../../src/session/store/store.ts'

/** A call of a tool that reads a file. */
export function createCall(at: number): CallPart {
  const input = { path: `src/folder/file-${at}.ts` }
  return { kind: 'call', id: `call_${at}`, name: 'read_file', raw: JSON.stringify(input), input }
}

export function createResult({ id, name }: CallPart): ResultPart {
  return { kind: 'result', id, name, status: 'ok', content: [{ kind: 'text', text: 'a line of a file\n'.repeat(20) }] }
}

/** A response with calls. */
export function createResponse(calls: readonly CallPart[], wire: WireId = 'gemini'): AssistantTurn {
  return {
    role: 'assistant',
    origin: { provider: 'p', wire, model: 'm' },
    parts: [{ kind: 'text', text: 'I look at the file.' }, ...calls],
    finish: { reason: 'calls' },
  }
}

/** A prompt, and a history of so many responses with a call and its result each. */
export function createHistory(responses: number): Turn[] {
  const turns: Turn[] = [{ role: 'user', parts: [{ kind: 'text', text: 'Look at all files.' }] }]
  for (let at = 0; at < responses; at++) turns.push(...createExchange(at))
  return turns
}

export function createExchange(at: number): Turn[] {
  const call = createCall(at)
  return [createResponse([call]), { role: 'results', parts: [createResult(call)] }]
}

/** The log of the same conversation. */
export function appendConversation(log: SessionLog, responses: number, from = 0): void {
  for (let at = from; at < from + responses; at++) {
    const call = createCall(at)
    const prompt = `${log.id}#1`
    const bodies: EntryBody[] = [
      ...(at % 10 === 0 ? [{ kind: 'user', parts: [{ kind: 'text', text: `do ${at}` }], prompt } as const] : []),
      { kind: 'request', model: 'p/m', prompt, bytes: 1000 },
      { kind: 'turn', prompt, ms: 1, turn: createResponse([call]) },
      { kind: 'intent', call: call.id, name: call.name, input: call.input ?? {} },
      { kind: 'result', ms: 1, result: createResult(call) },
    ]
    for (const body of bodies) log.append(body)
  }
}
