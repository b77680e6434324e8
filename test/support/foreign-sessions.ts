import type { ForeignAgent } from '../../src/session/import/foreign-session.ts'

/** What every session below says: a question, a call that reads the secret word, its result, and an answer. */
export const QUESTION = 'What is the secret word in a.txt?'
export const WORD = 'heron'
export const ANSWER = 'It is written there.'

const lines = (...records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** A session of each agent that keeps text files, in the form in which it writes them. */
export function writeForeignLog(agent: Exclude<ForeignAgent, 'opencode'>, folder = '/home/ann/app'): string {
  return WRITERS[agent](folder)
}

const WRITERS: Readonly<Record<Exclude<ForeignAgent, 'opencode'>, (folder: string) => string>> = {
  claude: (cwd) => {
    const common = { isSidechain: false, cwd, sessionId: '0a1b2c3d-0000-4000-8000-000000000001', version: '2.1.0' }
    const record = (uuid: string, parentUuid: string | null, more: object) => ({ ...common, uuid, parentUuid, ...more })
    const piece = (uuid: string, parent: string, id: string, block: object) =>
      record(uuid, parent, {
        type: 'assistant',
        message: { id, type: 'message', role: 'assistant', model: 'claude-sonnet-5', content: [block] },
      })
    return lines(
      { type: 'queue-operation', operation: 'enqueue', sessionId: common.sessionId },
      record('u1', null, { type: 'user', message: { role: 'user', content: QUESTION } }),
      record('t1', 'u1', { type: 'attachment', attachment: { type: 'date', date: '2026-01-02' } }),
      piece('a1', 't1', 'msg_1', {
        type: 'thinking',
        thinking: 'I look.',
        signature: 'c2lnbmVkIGJ5IHNvbWVib2R5IGVsc2U=',
      }),
      piece('a2', 'a1', 'msg_1', { type: 'text', text: 'I read the file.' }),
      piece('a3', 'a2', 'msg_1', { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: 'a.txt' } }),
      piece('a4', 'a3', 'msg_1', { type: 'tool_use', id: 'toolu_2', name: 'Bash', input: { command: 'ls' } }),
      // The results of parallel calls are children of their own pieces, so one is not on the branch.
      record('r1', 'a3', {
        type: 'user',
        message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: `1\t${WORD}` }] },
      }),
      record('r2', 'a4', {
        type: 'user',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'text', text: 'a.txt' }] }],
        },
      }),
      {
        ...record('s1', 'u1', { type: 'assistant', message: { id: 'msg_s', role: 'assistant', content: 'aside' } }),
        isSidechain: true,
      },
      piece('a5', 'r2', 'msg_2', { type: 'text', text: ANSWER }),
      { type: 'last-prompt', lastPrompt: QUESTION, leafUuid: 'a5', sessionId: common.sessionId },
    )
  },
  codex: (cwd) => {
    const item = (payload: object) => ({ timestamp: '2026-01-02T10:00:00.000Z', type: 'response_item', payload })
    const message = (role: string, type: string, text: string) =>
      item({ type: 'message', role, content: [{ type, text }] })
    return lines(
      { type: 'session_meta', payload: { id: '01a1ea91-f92c-7be1-948c-000000000001', cwd, cli_version: '0.160.0' } },
      message('developer', 'input_text', '<permissions instructions>none</permissions instructions>'),
      message('user', 'input_text', `<environment_context>\n  <cwd>${cwd}</cwd>\n</environment_context>`),
      { type: 'turn_context', payload: { cwd, model: 'gpt-6-sol' } },
      message('user', 'input_text', QUESTION),
      { type: 'event_msg', payload: { type: 'user_message', message: QUESTION } },
      item({ type: 'reasoning', summary: [], encrypted_content: 'Z0FBQUFBc29tZWJvZHkgZWxzZQ==' }),
      item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"cat a.txt"}', call_id: 'call_1' }),
      item({
        type: 'custom_tool_call',
        name: 'apply_patch',
        input: '*** Begin Patch\n*** End Patch',
        call_id: 'call_2',
      }),
      item({ type: 'function_call_output', call_id: 'call_1', output: `Output:\n${WORD}\n` }),
      item({ type: 'custom_tool_call_output', call_id: 'call_2', output: 'Success.' }),
      message('assistant', 'output_text', ANSWER),
      { type: 'event_msg', payload: { type: 'task_complete', last_agent_message: ANSWER } },
    )
  },
  gemini: () => {
    const call = { id: 'read_file-1', name: 'read_file', args: { file_path: 'a.txt' } }
    const response = { functionResponse: { id: call.id, name: call.name, response: { output: WORD } } }
    const thoughts = [{ subject: 'Reading', description: 'the file' }]
    const first = { id: 'm2', type: 'gemini', content: 'I read the file.', thoughts, model: 'gemini-3-pro' }
    return lines(
      {
        sessionId: '783d79f4-0000-4000-8000-000000000001',
        projectHash: 'ab',
        startTime: '2026-01-02T10:00:00Z',
        kind: 'main',
      },
      {
        $set: {
          messages: [{ id: 'm0', type: 'user', content: [{ text: '<session_context>\nToday…\n</session_context>' }] }],
        },
      },
      { id: 'm1', type: 'user', content: [{ text: QUESTION }] },
      first,
      { $set: { lastUpdated: '2026-01-02T10:00:01Z' } },
      { ...first, toolCalls: [{ ...call, result: [response], status: 'success' }] },
      { id: 'm3', type: 'user', content: [response] },
      { id: 'm4', type: 'gemini', content: ANSWER, thoughts: [], model: 'gemini-3-pro' },
    )
  },
  pi: (cwd) => {
    const entry = (id: string, parentId: string | null, message: object) => ({ type: 'message', id, parentId, message })
    const origin = { api: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-5', stopReason: 'toolUse' }
    return lines(
      { type: 'session', version: 3, id: '01a1ea95-0000-7000-8000-000000000001', cwd },
      entry('e1', null, { role: 'user', content: [{ type: 'text', text: QUESTION }] }),
      entry('e2', 'e1', {
        ...origin,
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I look.' },
          { type: 'toolCall', id: 'call_1|fc_1', name: 'read', arguments: { path: 'a.txt' } },
        ],
      }),
      entry('e3', 'e2', {
        role: 'toolResult',
        toolCallId: 'call_1|fc_1',
        toolName: 'read',
        content: [{ type: 'text', text: WORD }],
      }),
      { type: 'model_change', id: 'e4', parentId: 'e3', provider: 'openai', modelId: 'gpt-5' },
      entry('e5', 'e4', {
        ...origin,
        role: 'assistant',
        content: [{ type: 'text', text: ANSWER }],
        stopReason: 'stop',
      }),
    )
  },
}

/** The records of opencode's database. */
export function writeOpencodeRows(directory = '/home/ann/app', output = WORD) {
  const session = {
    id: 'ses_1',
    project_id: 'global',
    parent_id: null,
    directory,
    title: QUESTION,
    revert: null,
    time_created: 1,
    time_updated: 1_794_936_898_270,
  }
  const origin = { role: 'assistant', providerID: 'anthropic', modelID: 'claude-sonnet-5' }
  const state = { status: 'completed', input: { filePath: 'a.txt' }, output }
  const messages: [string, object, object[]][] = [
    ['msg_1', { role: 'user' }, [{ type: 'text', text: QUESTION }]],
    [
      'msg_2',
      origin,
      [
        { type: 'step-start' },
        { type: 'text', text: 'I read the file.' },
        { type: 'tool', tool: 'read', callID: 'call_1', state },
        { type: 'step-finish' },
      ],
    ],
    ['msg_3', origin, [{ type: 'step-start' }, { type: 'text', text: ANSWER }]],
  ]
  return {
    session: [session],
    message: messages.map(([id, data]) => ({ id, session_id: 'ses_1', data: JSON.stringify(data) })),
    part: messages.flatMap(([message_id, , parts]) =>
      parts.map((data, at) => ({
        id: `prt_${message_id}_${at}`,
        message_id,
        session_id: 'ses_1',
        data: JSON.stringify(data),
      })),
    ),
  }
}

/** The same session, as `opencode export` prints it. */
export function writeOpencodeExport(directory?: string): string {
  const { session, message, part } = writeOpencodeRows(directory)
  const messages = message.map(({ id, data }) => ({
    info: { id, ...(JSON.parse(data) as object) },
    parts: part
      .filter((one) => one.message_id === id)
      .map((one) => ({ id: one.id, ...(JSON.parse(one.data) as object) })),
  }))
  return JSON.stringify({ info: session[0], messages })
}
