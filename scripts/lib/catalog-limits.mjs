// Data that the source of the prices lacks, maintained by hand: the maximum output, the context window where
// that is missing, and what it can do (t: calls tools, v: looks at pictures, r: reasons). The first line that fits the
// last part of a model's name counts for each fact. What is not certain is left out: unknown is better than wrong.
export const limits = [
  // Not for a conversation: other kinds of models, and those that only completed a text.
  [/embed|tts|transcribe|whisper|image|audio|realtime|live|moderation|ocr|guard|dall-e|voice|voxtral/, { skip: true }],
  [/^(?:text-)?(?:ada|babbage|curie|davinci)(?:-|$)|^gpt-3\.5-turbo-instruct/, { skip: true }],

  [/^claude-(?:3-5-haiku|3-5-sonnet|3\.5)/, { output: 8192, can: 'tv' }],
  [/^claude-(?:instant|2|v1)/, { output: 4096, can: '' }],
  [/^claude-3-7|^claude-3\.7/, { output: 64_000, can: 'tvr' }],
  [/^claude-3/, { output: 4096, can: 'tv' }],
  [/^claude-opus-4-?[01]?$|^claude-opus-4\.1|^claude-4-opus/, { output: 32_000, can: 'tvr' }],
  [/^claude-(?:opus-4[.-]5|sonnet-4|4-sonnet|haiku-4)/, { output: 64_000, can: 'tvr' }],
  [/^claude-opus-4[.-]6/, { output: 128_000, can: 'tvr' }],
  [/^claude-/, { can: 'tvr' }],

  [/^gemini-(?:1|2\.0|flash-1|pro)/, { output: 8192, can: 'tv' }],
  [/^gemini-(?:2\.5|3)/, { window: 1_048_576, output: 65_536, can: 'tvr' }],

  [/^(?:chat)?gpt-4o/, { output: 16_384, can: 'tv' }],
  [/^gpt-4\.1/, { output: 32_768, can: 'tv' }],
  [/^gpt-3\.5|^gpt-4(?!\.5)/, { output: 4096, can: 't' }],
  [/^gpt-5[\d.]*-chat/, { output: 16_384, can: 'tv' }],
  [/^gpt-5/, { output: 128_000, can: 'tvr' }],
  [/^gpt-[6-9]/, { can: 'tvr' }],
  [/^o1-mini|^o1-preview/, { output: 65_536, can: 'r' }],
  [/^o3-mini/, { output: 100_000, can: 'tr' }],
  [/^(?:o[134]|codex)/, { output: 100_000, can: 'tvr' }],
  [/^gpt-oss/, { window: 131_072, can: 'tr' }],

  [/^deepseek-(?:reasoner|r1|v[4-9])/, { can: 'tr' }],
  [/^deepseek/, { can: 't' }],
  [/^grok-(?:3-mini|code)/, { can: 'tr' }],
  [/^grok-4/, { can: 'tvr' }],
  [/^grok/, { can: 't' }],
  [/^magistral/, { can: 'tr' }],
  [/^(?:pixtral|mistral-(?:medium|small)-(?:3|25|latest))/, { can: 'tv' }],
  [/^(?:mistral|ministral|codestral|devstral|mixtral|open-mi)/, { can: 't' }],
  [/^kimi.*thinking/, { can: 'tr' }],
  [/^kimi/, { can: 't' }],
  [/^glm-(?:4\.[5-9]|[5-9])/, { can: 'tr' }],
  [/^minimax-m[2-9]/, { can: 'tr' }],
  [/^qwen.*coder/, { can: 't' }],
  [/^qwen.*vl/, { can: 'tv' }],
  [/^qwen3|^qwq/, { can: 'tr' }],
  [/^(?:meta-)?llama-4/, { can: 'tv' }],
  [/^(?:meta-)?llama-?v?-?3[.p-]?[1-9]/, { can: 't' }],
]
