import type { Profile } from '../model/profile.ts'

/** What most endpoints have in common; a wire adds what differs. */
export const BASE_PROFILE = {
  tools: 'native',
  ids: 'any',
  media: true,
  refuses: [],
  replay: 'own',
  emptyContent: 'omit',
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  alternate: false,
  bridge: false,
  resultName: false,
  streamUsage: true,
  cache: 'none',
  entities: false,
  think: false,
  signatures: 'optional',
  nestedMedia: false,
  constrain: false,
  eagerArguments: false,
  encryptedReasoning: false,
  outputFormat: 'schema',
  outputWithTools: false,
  cacheTtlField: 'prompt_cache_retention',
  lateTools: 'none',
} satisfies Omit<Profile, 'signer' | 'dialect' | 'thinking'>
