import type { RehearsalScript } from '../script/script.ts'

export const helloScript: RehearsalScript = {
  about: 'Says hello, and nothing else.',
  start: 'prompt',
  steps: [
    {
      say: 'Hello. This is a scripted rehearsal, not a model; but the request and the answer really went over the wire.',
    },
  ],
}
