import Fastify from "fastify";
import { getCart } from "./cart.js";

const app = Fastify({ logger: true });

app.get<{ Params: { id: string } }>("/cart/:id", (request) => getCart(request.params.id));

export default app;
