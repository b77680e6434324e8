import type { ParsedVendorError } from './parse-error.ts'

/** Is the conversation too long for the model (T159)? Then only compaction helps. */
export function isContextOverflow(error: ParsedVendorError, status: number | undefined): boolean {
  const searchText = `${error.code ?? ''} ${error.type ?? ''} ${error.message.slice(0, 1000)}`
  // A rate limit is not an overflow, even if the message is about tokens; and 429 never means overflow (T158).
  if (status === 429 || RATE_LIMIT_PHRASE.test(searchText)) return false
  return status === 413 || OVERFLOW_PHRASES.some((phrase) => phrase.test(searchText))
}

const RATE_LIMIT_PHRASE =
  /\bper[ _-]?(?:second|sec|minute|min|hour|day)|\b[TR]P[MD]\b|rate.?limit|throttl|too many requests|too many tokens, please wait/i

/** With the vendors that use each phrase. */
const OVERFLOW_PHRASES: readonly RegExp[] = [
  /context[_ ](?:length|window|size)[_ ]?(?:limit[_ ])?(?:has been |is |was )?exceed/i, // OpenAI, Groq, Cerebras, LM Studio, z.ai
  /exceed[_ ]context[_ ]size/i, // llama.cpp
  /exceeds? (?:the |your |this model's )?(?:available |maximum |max |model's )?context/i, // llama.cpp, OpenAI, SGLang
  /(?:maximum|max) context length (?:is|of|by|:)/i, // OpenAI, vLLM, DeepSeek, OpenRouter, SGLang, Ollama, Fireworks
  /\d+ (?:maximum )?(?:max )?context length/i, // Mistral
  /longer than the (?:model'?s? ?|maximum )(?:model |context )*length/i, // SGLang, vLLM
  /prompt is too long/i, // Anthropic, Fireworks
  /prompt (?:is )?too (?:long|large)/i, // Ollama
  /prompt .{0,60}too long to fit/i, // vLLM
  /prompt tokens? (?:is |are )?too long/i, // Qianfan
  /prompt exceeds max(?:imum)? length/i, // z.ai
  /maximum prompt length is/i, // xAI
  /prompt token count of \d+ exceeds/i, // GitHub Copilot
  /max_prompt_tokens_exceeded/i, // GitHub Copilot
  /exceed context limit/i, // Anthropic, with max_tokens
  /exceeds? the context limit/i,
  /input token count .{0,40}exceeds/i, // Google
  /exceeds the maximum number of (?:input )?tokens/i, // Google
  /input tokens? exceeds? the/i, // OpenAI
  /input (?:length )?is too long/i, // Bedrock
  /too many input tokens/i, // Bedrock
  /input validation error: .{0,60}tokens/i, // Together, Hugging Face
  /inputs?`? tokens? \+ `?max_new_tokens/i, // text-generation-inference
  /must have less than \d+ tokens/i, // text-generation-inference
  /range of input length should be/i, // DashScope
  /input or output tokens exceed/i, // DashScope
  /exceeded model token limit/i, // Kimi
  /context window exceeds limit/i, // MiniMax
  /context_?window_?exceeded|model_context_window_exceeded/i, // z.ai, LiteLLM
  /reduce the length of (?:the |your )?(?:messages|prompt|input)/i, // Groq, Cerebras, OpenAI
  /tokens to keep from the initial prompt|keep the first \d+ tokens/i, // LM Studio
  /greater than the context length/i, // LM Studio
  /number of tokens in the prompt cannot exceed/i, // Cohere
  /\binput exceeds (?:the )?(?:max|context|token)/i, // Ollama, OpenAI
  /request_too_large/i, // Anthropic
  /^.{0,12}\b4(?:00|13) status code \(no body\)/i, // Cerebras
]
