import type { JsonObject } from '../../src/model/json.ts'
import {
  type ParsedTextCalls,
  createTextCallParser,
  type TextCall,
} from '../../src/wire/text-calls/text-call-parser.ts'

/** The tools that the written calls mean. */
export const TOOLS: { name: string; schema: JsonObject }[] = [
  {
    name: 'read_file',
    schema: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        lines: { type: 'integer' },
        ratio: { type: 'number' },
        all: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string' } },
        options: { anyOf: [{ $ref: '#/$defs/options' }, { type: 'null' }] },
        either: { type: ['string', 'number'] },
        level: { enum: [1, 2] },
        free: {},
      },
      $defs: { options: { type: 'object', properties: { depth: { type: 'integer' } } } },
    },
  },
  { name: 'bash', schema: { type: 'object', properties: { command: { type: 'string' } } } },
  { name: 'list', schema: { type: 'object', properties: {} } },
]

/** The answer ended as it should, and no structured call came. */
export const NATURAL = { endedNormally: true, hasNativeCalls: false }
/** Random tests can be repeated: FC_SEED=… */
export const SEED = Number(process.env['FC_SEED'] ?? Date.now() % 0x7fffffff)

/** All that came of a text: what was shown in the end, and what was found. */
export function watch(pieces: readonly string[], how = NATURAL): ParsedTextCalls {
  const rescue = createTextCallParser(TOOLS)
  const shown = pieces.map((piece) => rescue.push(piece)).join('')
  const { text, ...end } = rescue.end(how)
  return { ...end, text: shown + text }
}

/** The codes of the warnings. */
export const codes = (rescued: ParsedTextCalls): string[] => rescued.warnings.map(({ code }) => code)
/** A call with these arguments. */
export const call = (name: string, input: object): TextCall => ({ name, raw: JSON.stringify(input) })

/** The call that most forms mean. */
export const LS = call('bash', { command: 'ls' })
const READ = call('read_file', { path: 'a.ts', lines: 12 })

/** Forms in which models write calls, by the number of the failure; each with the calls that it means. */
export const FORMS: [name: string, text: string, calls: TextCall[]][] = [
  ['T60', '<tool_call>\n{"name":"bash","arguments":{"command":"ls"}}\n</tool_call>', [LS]],
  ['T60 parameters', '<tool_call>{"name":"bash","parameters":{"command":"ls"}}</tool_call>', [LS]],
  ['T60 unclosed', '<tool_call>\n{"name":"bash","arguments":{"command":"ls"}}', [LS]],
  ['T60 one bracket too many', '<tool_call>\n{"name":"bash","arguments":{"command":"ls"}}}\n</tool_call>', [LS]],
  [
    'T60 in a row',
    '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>\n<tool_call>\n' +
      '{"name":"read_file","arguments":{"path":"a.ts","lines":12}}\n</tool_call>\n',
    [LS, READ],
  ],
  [
    'T60 in one block',
    '<tool_call>\n{"name":"bash","arguments":{"command":"ls"}}\n{"name":"list"}\n</tool_call>',
    [LS, call('list', {})],
  ],
  ['T60 token', '<|tool_call|>[{"name":"bash","arguments":{"command":"ls"}}]<|/tool_call|>', [LS]],
  ['T60 fullwidth bar', '<｜tool_call｜>{"name":"bash","arguments":{"command":"ls"}}<｜/tool_call｜>', [LS]],
  ['T60 fullwidth tag', '＜tool_call＞{"name":"bash","arguments":{"command":"ls"}}＜/tool_call＞', [LS]],
  [
    'T61',
    '<tool_call>\n<function=read_file>\n<parameter=path>\na.ts\n</parameter>\n<parameter=lines>\n12\n</parameter>\n' +
      '</function>\n</tool_call>',
    [READ],
  ],
  ['T61 bare', '<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>', [LS]],
  [
    'T61 in a row',
    '<function=bash><parameter=command>ls</parameter></function><function=list></function>',
    [LS, call('list', {})],
  ],
  [
    'T62',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command":"ls"}' +
      '<|tool_call_end|><|tool_call_begin|>functions.list:1<|tool_call_argument_begin|>{}<|tool_call_end|>' +
      '<|tool_calls_section_end|>',
    [LS, call('list', {})],
  ],
  [
    'T62 singular',
    '<|tool_call_section_begin|>\n<|tool_call_begin|>\nbash:0 <|tool_call_argument_begin|> {"command":"ls"}\n' +
      '<|tool_call_end|>\n<|tool_call_section_end|>',
    [LS],
  ],
  [
    'T62 older DeepSeek',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n{"command":"ls"}\n```' +
      '<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
    [LS],
  ],
  [
    'T63',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_file">\n' +
      '<｜DSML｜parameter name="path" string="true">a.ts</｜DSML｜parameter>\n' +
      '<｜DSML｜parameter name="lines" string="false">12</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    [READ],
  ],
  ...['｜', '｜｜', '‖', '|', '||', ' | '].map((bar): (typeof FORMS)[number] => [
    `T63 bare, bar ${bar}`,
    '<%DSML%invoke name="bash"><%DSML%parameter name="command" string="true">ls</%DSML%parameter></%DSML%invoke>'.replaceAll(
      '%',
      bar,
    ),
    [LS],
  ]),
  [
    'T64',
    '<minimax:tool_call>\n<invoke name="bash">\n<parameter name="command">ls</parameter>\n</invoke>\n' +
      '<invoke name="list">\n</invoke>\n</minimax:tool_call>',
    [LS, call('list', {})],
  ],
  [
    'T64 M3',
    '%<tool_call>\n%<invoke name="read_file">%<path>a.ts%</path>%<lines>12%</lines>%<tags>%<item>x%</item>%<item>1%</item>%</tags>%<options>%<depth>3%</depth>%</options>%</invoke>\n%</tool_call>'.replaceAll(
      '%',
      ']<]minimax[>[',
    ),
    [call('read_file', { path: 'a.ts', lines: 12, tags: ['x', '1'], options: { depth: 3 } })],
  ],
  ['T64 JSON', '[TOOL_CALL] {"tool": "bash", "args": {"command":"ls"}} [/TOOL_CALL]', [LS]],
  ['T65', '<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command":"ls"}<|call|>', [LS]],
  [
    'T65 recipient first',
    '<|start|>assistant to=functions.bash<|channel|>commentary json<|message|>{"command":"ls"}',
    [LS],
  ],
  ['T65 without tokens', 'assistantcommentary to=functions.bash json{"command":"ls"}', [LS]],
  ['T65 sticking', 'commentary to=functions.bashjson{"command":"ls"}', [LS]],
  ['T65 to', 'to=functions.bash code{"command":"ls"}', [LS]],
  ['T66 Mistral', '[TOOL_CALLS]bash{"command":"ls"}', [LS]],
  [
    'T66 Mistral, args',
    '[TOOL_CALLS]bash[CALL_ID]a1B2c3D4e[ARGS]{"command":"ls"}[TOOL_CALLS]list[ARGS]{}',
    [LS, call('list', {})],
  ],
  ['T66 Mistral, array', '[TOOL_CALLS] [{"name": "bash", "arguments": {"command":"ls"}, "id": "x"}]', [LS]],
  ['T66 Llama', '<|python_tag|>{"name": "bash", "parameters": {"command":"ls"}}<|eom_id|>', [LS]],
  [
    'T66 Gemma',
    '<|tool_call>call:read_file{path:<|"|>a.ts<|"|>,lines:12}<tool_call|><|tool_call>call:list{}<tool_call|>',
    [READ, call('list', {})],
  ],
  ['T66 small Gemma', '<start_function_call>call:bash{command:<escape>ls<escape>}<end_function_call>', [LS]],
  [
    'T67',
    '<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.ts</arg_value>\n<arg_key>lines</arg_key>\n' +
      '<arg_value>12</arg_value>\n</tool_call>',
    [READ],
  ],
  ['T67 no arguments', '<tool_call>list\n</tool_call>', [call('list', {})]],
  ['T67 last value unclosed', '<tool_call>bash<arg_key>command</arg_key><arg_value>ls</tool_call>', [LS]],
  [
    'T68',
    '<function_calls>\n<invoke name="read_file">\n<parameter name="path">a.ts</parameter>\n' +
      '<parameter name="lines">12</parameter>\n</invoke>\n</function_calls>',
    [READ],
  ],
  ['T68 bare', "<invoke name='bash'>\n<parameter name=command>ls</parameter>\n</invoke>", [LS]],
  ['T73 Groq', '<function=bash>{"command":"ls"}</function>', [LS]],
]
