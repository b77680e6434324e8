import type { RehearsalScript } from '../script/script.ts'

export const helloScript: RehearsalScript = {
  about: 'Says hello, and nothing else.',
  start: 'prompt',
  steps: [
    {
      say: 'Hello. This is a scripted rehearsal, not a model, but the request and the response went over real HTTP.',
    },
  ],
}
