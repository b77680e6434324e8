import { createTypeChecker } from '../field-types.ts'

/** Also for the envelope of Code Assist. */
export const checkGeminiTypes = createTypeChecker({
  string:
    'model role text name description mode id mimeType data fileUri thoughtSignature responseMimeType project userPromptId sessionId systemInstruction',
  boolean: 'thought includeThoughts',
  number: 'maxOutputTokens temperature topP thinkingBudget',
  object:
    'request systemInstruction toolConfig functionCallingConfig generationConfig thinkingConfig functionCall functionResponse response inlineData fileData parameters parametersJsonSchema responseSchema responseJsonSchema args',
  objects: 'contents parts tools functionDeclarations',
  strings: 'stopSequences allowedFunctionNames',
  opaque: 'response args parameters parametersJsonSchema responseSchema responseJsonSchema',
})
