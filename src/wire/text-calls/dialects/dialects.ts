import type { TextCallDialect } from './dialect.ts'
import { readGemmaCall } from './gemma.ts'
import { readHarmonyCall } from './harmony.ts'
import { readMistralCall, readPythonTagCall } from './mistral-llama.ts'
import { readMinimaxCall, MINIMAX_CALL_MARKER } from './minimax.ts'
import { readTokenBody } from './special-tokens.ts'
import { readFunctionaryCall, readFunctoolsCall, readPlainTagCall } from './weak-markers.ts'
import { readInklingCall, readLfm2Call, readWrappedCall } from './wrappers.ts'
import {
  readDsmlTagCall,
  readFunctionTagCall,
  readInvokeTagCall,
  readKimiTagCall,
  readNamedFunctionTagCall,
} from './xml-tags.ts'

const NAMESPACES = ['', 'minimax:', 'antml:', 'seed:', 'steptml:']
const WRAPPER_TAGS = ['tool_call', 'tool_calls', 'function_call', 'function_calls']
const HARMONY_PREFIXES = ['', 'assistant', 'analysis', 'commentary', 'assistantcommentary', 'assistantanalysis']

/** Most rows are a pair of markers around calls in a notation that all of them share. */
export const TEXT_CALL_DIALECTS: readonly TextCallDialect[] = [
  {
    id: 'tool_call',
    models: 'Hermes, Qwen, Granite, Hunyuan and others: JSON in tags',
    startMarkers: [
      ...NAMESPACES.flatMap((space) => WRAPPER_TAGS.map((name) => `<${space}${name}>`)),
      '<|tool_call|>',
      '<|tool_calls|>',
      '[TOOL_CALL]',
    ],
    endMarkers: ['<|/tool_call|>', '<|/tool_calls|>', '[/TOOL_CALL]', '[/TOOL_CALLS]', '</answer>'],
    read: readWrappedCall,
  },
  {
    id: 'longcat',
    models: 'LongCat',
    startMarkers: ['<longcat_tool_call>'],
    endMarkers: ['</longcat_tool_call>'],
    read: readWrappedCall,
  },
  {
    id: 'dots',
    models: 'dots',
    startMarkers: ['<dots_function_call>'],
    endMarkers: ['</dots_function_call>'],
    read: readWrappedCall,
  },
  {
    id: 'nemotron',
    models: 'Nemotron 2',
    startMarkers: ['<TOOLCALL>'],
    endMarkers: ['</TOOLCALL>'],
    read: readWrappedCall,
  },
  { id: 'lfm2', models: 'LFM2', startMarkers: ['<|tool_call_start|>'], read: readLfm2Call },
  {
    id: 'apertus',
    models: 'Apertus',
    startMarkers: ['<|tools_prefix|>'],
    endMarkers: ['<|tools_suffix|>'],
    read: readWrappedCall,
  },
  {
    id: 'cohere',
    models: 'Cohere Command',
    startMarkers: ['<|START_ACTION|>'],
    endMarkers: ['<|END_ACTION|>'],
    read: readWrappedCall,
  },
  {
    id: 'gigachat',
    models: 'GigaChat',
    startMarkers: ['<|function_call|>', '<|message_sep|>functioncall<|role_sep|>'],
    endMarkers: ['<|message_sep|>'],
    read: readWrappedCall,
  },
  {
    id: 'internlm',
    models: 'InternLM',
    startMarkers: ['<|action_start|><|plugin|>'],
    endMarkers: ['<|action_end|>'],
    read: readWrappedCall,
  },
  {
    id: 'llama4',
    models: 'Llama 4',
    startMarkers: ['<|python_start|>'],
    endMarkers: ['<|python_end|>'],
    read: readWrappedCall,
  },
  { id: 'phi4', models: 'Phi-4', startMarkers: ['functools'], read: readFunctoolsCall },
  {
    id: 'inkling',
    models: 'Inkling',
    startMarkers: ['<|content_invoke_tool_json|>', '<|message_model|>'],
    endMarkers: ['<|end_message|>', '<|content_model_end_sampling|>'],
    read: readInklingCall,
  },
  { id: 'functionary', models: 'Functionary 3.2', startMarkers: ['>>>'], read: readFunctionaryCall },
  {
    id: 'json',
    models: 'several: JSON without a marker, or in a plain tag',
    startMarkers: ['<tools>', '<response>', '<json>', '<xml>', '<user>'],
    endMarkers: ['</tools>', '</response>', '</json>', '</xml>', '</user>'],
    read: readPlainTagCall,
  },
  {
    id: 'function',
    models: 'Qwen3-Coder, Nemotron 3, Seed, Step 3.5',
    startMarkers: ['<function='],
    endMarkers: ['</function>'],
    read: readFunctionTagCall,
  },
  {
    id: 'minicpm',
    models: 'MiniCPM',
    startMarkers: ['<function name', '<functionname', '<functionĠname'],
    read: readNamedFunctionTagCall,
  },
  {
    id: 'invoke',
    models: 'MiniMax M2, Step 3, and models that imitate Claude',
    startMarkers: NAMESPACES.map((space) => `<${space}invoke `),
    read: readInvokeTagCall,
  },
  { id: 'dsml', models: 'DeepSeek V3.2 and V4', startMarkers: ['<|DSML|'], read: readDsmlTagCall },
  {
    id: 'kimi-k3',
    models: 'Kimi K3',
    startMarkers: ['<|open|>tools<|sep|>', '<|open|>call'],
    endMarkers: ['<|close|>tools<|sep|>', '<|close|>message<|sep|>'],
    read: readKimiTagCall,
  },
  { id: 'minimax', models: 'MiniMax M3', startMarkers: [MINIMAX_CALL_MARKER], read: readMinimaxCall },
  {
    id: 'tokens',
    models: 'Kimi K2, DeepSeek R1 to V3.1, Solar',
    startMarkers: [
      ...['tool_calls_section', 'tool_call_section', 'tool_calls', 'tool_call'].map((name) => `<|${name}_begin|>`),
      '<|tool_call:begin|>',
    ],
    endMarkers: [
      ...['tool_calls_section', 'tool_call_section', 'tool_calls', 'tool_call'].map((name) => `<|${name}_end|>`),
      '<|tool_call:end|>',
      '<|tool_sep|>',
    ],
    read: readTokenBody,
  },
  {
    id: 'harmony',
    models: 'gpt-oss, Muse',
    startMarkers: [
      '<|start|>assistant',
      '<|channel|>',
      'assistant<|channel|>',
      ...HARMONY_PREFIXES.map((words) => `${words} to=`.trimStart()),
    ],
    endMarkers: ['<|call|>', '<|end|>', '<|return|>'],
    read: readHarmonyCall,
  },
  { id: 'mistral', models: 'Mistral', startMarkers: ['[TOOL_CALLS]'], read: readMistralCall },
  { id: 'python_tag', models: 'Llama 3', startMarkers: ['<|python_tag|>'], read: readPythonTagCall },
  {
    id: 'gemma',
    models: 'Gemma',
    startMarkers: ['<|tool_call>', '<start_function_call>'],
    endMarkers: ['<tool_call|>', '<turn|>', '<|tool_response>', '<end_function_call>'],
    read: readGemmaCall,
  },
]

/** Dialects without a marker of their own: they stand inside the markers of others, or alone. */
export const NESTED_DIALECTS: readonly Pick<TextCallDialect, 'id' | 'models'>[] = [
  { id: 'glm', models: 'GLM 4.5 and later, Hunyuan 3, Poolside: `name<arg_key>…` inside the tags of `tool_call`' },
  { id: 'pythonic', models: 'OLMo 3, LFM2, Llama 3 and 4: `[name(key="value")]`' },
]
