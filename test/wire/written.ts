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
        maybe: { type: ['string', 'null'] },
        textOrList: { anyOf: [{ type: 'array' }, { type: 'string' }] },
        python: { type: 'float' },
        untyped: { properties: { a: { type: 'integer' } } },
        untypedList: { items: { type: 'string' } },
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
  const { text, textWithoutCalls: rest, ...end } = rescue.end(how)
  return { ...end, text: shown + text, ...(rest !== undefined && { textWithoutCalls: shown + rest }) }
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
  [
    'T64 M3, nothing in it',
    '%<invoke name="read_file">%<path>%</path>%<tags>%</tags>%<options>%</options>%</invoke>'.replaceAll(
      '%',
      ']<]minimax[>[',
    ),
    [call('read_file', { path: '', tags: [], options: {} })],
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
  ['T181 LongCat', '<longcat_tool_call>{"name": "bash", "arguments": {"command":"ls"}}</longcat_tool_call>', [LS]],
  [
    'T181 dots',
    '<dots_function_call><invoke name="bash"><parameter name="command">ls</parameter></invoke></dots_function_call>' +
      '<dots_function_call>{"name":"list","arguments":{}}</dots_function_call>',
    [LS, call('list', {})],
  ],
  ['T181 Nemotron', '<TOOLCALL>[{"name": "bash", "arguments": {"command":"ls"}}]</TOOLCALL>', [LS]],
  [
    'T181 Apertus',
    '<|tools_prefix|>[{"bash": {"command":"ls"}}, {"list": {}}]<|tools_suffix|>',
    [LS, call('list', {})],
  ],
  [
    'T181 Cohere',
    '<|START_ACTION|>\n[\n  {"tool_call_id": "0", "tool_name": "bash", "parameters": {"command":"ls"}}\n]<|END_ACTION|>',
    [LS],
  ],
  [
    'T181 GigaChat',
    '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "bash", "arguments": {"command":"ls"}}',
    [LS],
  ],
  ['T181 GigaChat 3.1', '<|function_call|>{"name": "bash", "arguments": {"command":"ls"}}', [LS]],
  ['T181 InternLM', '<|action_start|><|plugin|>{"name": "bash", "parameters": {"command":"ls"}}<|action_end|>', [LS]],
  [
    'T181 Inkling',
    '<|message_model|>x<|content_invoke_tool_json|>{"name":"bash","args":{"command":"ls"}}<|end_message|>' +
      '<|message_model|>x<|content_invoke_tool_json|>{"name":"list","args":{}}<|end_message|>',
    [LS, call('list', {})],
  ],
  [
    'T181 Solar',
    '<|tool_calls|><|tool_call:begin|>0<|tool_call:name|>bash<|tool_call:args|>{"command":"ls"}<|tool_call:end|>',
    [LS],
  ],
  [
    'T181 oldest DeepSeek',
    '<｜tool▁calls｜>function<｜tool▁sep｜>bash\n```json\n{"command":"ls"}\n```<｜tool▁call▁end｜>',
    [LS],
  ],
  ['T182 LFM2', "<|tool_call_start|>[bash(command='ls'), list()]<|tool_call_end|>", [LS, call('list', {})]],
  ['T182 LFM2 without brackets', '<|tool_call_start|>bash(command="ls")<|tool_call_end|>', [LS]],
  [
    'T182 LFM2 twice',
    '<|tool_call_start|><|tool_call_start|>[list()]<|tool_call_end|><|tool_call_end|>',
    [call('list', {})],
  ],
  ['T182 LFM2 JSON', '<|tool_call_start|>[{"name": "bash", "arguments": {"command":"ls"}}]<|tool_call_end|>', [LS]],
  ['T182 OLMo', '<function_calls>bash(command="ls")\nlist()</function_calls>', [LS, call('list', {})]],
  ['T182 Llama 4', "<|python_start|>[read_file(path='a.ts', lines=12)]<|python_end|>", [READ]],
  ['T183 Phi-4', 'functools[{"name": "bash", "arguments": {"command":"ls"}}]', [LS]],
  ['T183 plain tag', '<tools>\n {"name": "bash", "arguments": {"command":"ls"}}\n</tools>', [LS]],
  ['T183 another plain tag', '<user>\n{"name": "bash", "arguments": {"command":"ls"}}\n</user>', [LS]],
  ['T183 GLM in a plain tag', '<user>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</user>', [LS]],
  ['T184 MiniCPM', '<function name="bash"><param name="command">ls</param></function>', [LS]],
  ['T184 MiniCPM CDATA', '<function name="bash"><param name="command"><![CDATA[ls]]></param></function>', [LS]],
  ['T184 MiniCPM, spaces lost', '<functionname="bash"><paramname="command">ls</param></function>', [LS]],
  ['T184 MiniCPM, signs for spaces', '<functionĠname="bash"><paramĠname="command">ls</param></function>', [LS]],
  ['T184 MiniCPM JSON', '<function name="bash">\n{"command":"ls"}\n</function>', [LS]],
  [
    'T184 Kimi K3',
    '<|open|>tools<|sep|><|open|>call tool="read_file" index="1"<|sep|>' +
      '<|open|>argument key="path" type="string"<|sep|>a.ts<|close|>argument<|sep|>' +
      '<|open|>argument key="lines" type="number"<|sep|>12<|close|>argument<|sep|><|close|>call<|sep|>' +
      '<|open|>call tool="list" index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
    [READ, call('list', {})],
  ],
  [
    'T184 Hunyuan',
    '<tool_calls>\n<tool_call>bash<tool_sep>\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>\n' +
      '<tool_call>list<tool_sep></tool_call>\n</tool_calls>',
    [LS, call('list', {})],
  ],
  [
    'T184 Step',
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="bash">' +
      '<steptml:parameter name="command">ls</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_sep｜>' +
      '<｜tool_call_begin｜><steptml:invoke name="list"></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
    [LS, call('list', {})],
  ],
  [
    'T184 Muse',
    '<|start|>assistant to=bash<|message|><atem:function_calls>\n<atem:invoke name="bash">\n' +
      '<atem:parameter name="command">ls</atem:parameter>\n</atem:invoke>\n<atem:invoke name="list">\n</atem:invoke>\n' +
      '</atem:function_calls><|eot|>',
    [LS, call('list', {})],
  ],
  ['T184 Seed', '<seed:tool_call><function=bash><parameter=command>ls</parameter></function></seed:tool_call>', [LS]],
  [
    'T185 wrapped arguments',
    '<invoke name="bash"><parameter name="arguments">{"command":"ls"}</parameter></invoke>',
    [LS],
  ],
  [
    'T188 self-closing',
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="list"/>\n</｜DSML｜tool_calls>',
    [call('list', {})],
  ],
  ['T188 self-closing invoke', '<function_calls><invoke name="list" /></function_calls>', [call('list', {})]],
  [
    'T188 closed by the tag around it',
    '<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</tool_call>',
    [LS],
  ],
]

/** Calls without a marker (T183): the whole answer. */
export const BARE_FORMS: [name: string, text: string, calls: TextCall[]][] = [
  ['JSON', '{"name":"bash","arguments":{"command":"ls"}}', [LS]],
  ['JSON of Llama', '{"name": "bash", "parameters": {"command":"ls"}}', [LS]],
  [
    'JSON of OpenAI',
    '{"tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":{"command":"ls"}}}]}',
    [LS],
  ],
  ['arguments first', '{"arguments": {"command":"ls"}, "name": "bash"}', [LS]],
  [
    'an array',
    '[{"name":"bash","arguments":{"command":"ls"}}, {"name":"list","arguments":{}}]',
    [LS, call('list', {})],
  ],
  [
    'objects in a row',
    '{"name":"bash","arguments":{"command":"ls"}} ; {"name":"list","arguments":{}}',
    [LS, call('list', {})],
  ],
  ['a list in Python notation', '[read_file(path="a.ts", lines=12), list()]', [READ, call('list', {})]],
  ['a name, a line break and JSON', 'bash\n{"command":"ls"}', [LS]],
]
