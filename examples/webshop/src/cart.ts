import { db } from "./db.js";

export async function getCart(id: string) {
  return db.query.carts.findFirst({ where: (cart, { eq }) => eq(cart.id, id) });
}
