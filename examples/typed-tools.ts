import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { agent, type Model, tool } from 'dragoman'
import * as v from 'valibot'
import { z } from 'zod'

const find = tool({
  name: 'find_flights',
  description: 'Finds flights.',
  parameters: z.object({ from: z.string(), to: z.string() }),
  execute: ({ from, to }) => [{ flight: 'DR 101', from, to }],
})
const price = tool({
  name: 'get_price',
  description: 'The price of a flight.',
  parameters: type({ flight: 'string', 'seats?': 'number.integer > 0' }),
  execute: ({ flight, seats = 1 }) => ({ flight, euros: 99 * seats }),
})
const weather = tool({
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: toStandardJsonSchema(v.object({ city: v.string() })),
  execute: ({ city }) => `It is sunny in ${city}.`,
})
const offer = z.object({ flight: z.string(), euros: z.number(), remark: z.string().optional() })

/** Tools with schemas of three libraries, and an answer with a type. */
export async function main(model: string | Model): Promise<z.infer<typeof offer>> {
  const helper = agent({ model, tools: [find, price, weather], policy: 'yolo', output: offer })
  const { output } = await helper.run('The cheapest flight from Berlin to Rome?').orThrow()
  return output
}
