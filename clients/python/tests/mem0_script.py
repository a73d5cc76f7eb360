"""A script for mem0 without any change for Lukasa: it connects to MEM0_HOST."""

import asyncio
import os
import sys

from mem0 import AsyncMemoryClient, MemoryClient

user = sys.argv[1]
client = MemoryClient(api_key=os.environ["MEM0_API_KEY"], host=os.environ["MEM0_HOST"])

messages = [
    {"role": "user", "content": "I am vegetarian and fond of lentils."},
    {"role": "assistant", "content": "Noted, I will remember that."},
]
added = client.add(messages, user_id=user, metadata={"topic": "food"})
memory = added["results"][0]
assert memory["event"] == "ADD", added

found = client.search("vegetarian recipes", filters={"user_id": user}, top_k=3)
assert "vegetarian" in found["results"][0]["memory"], found
assert 0 <= found["results"][0]["score"] <= 1, found

listed = client.get_all(filters={"AND": [{"user_id": user}, {"topic": "food"}]}, page=1, page_size=10)
assert (listed["count"], listed["results"][0]["metadata"]) == (1, {"topic": "food"}), listed

client.update(memory["id"], text="I am vegan and fond of lentils.")
assert client.get(memory["id"])["memory"] == "I am vegan and fond of lentils."
assert [entry["event"] for entry in client.history(memory["id"])] == ["ADD", "UPDATE"]

client.delete(memory["id"])
try:
    client.get(memory["id"])
    raise SystemExit("what was deleted is still there")
except Exception as error:
    assert type(error).__name__ == "MemoryNotFoundError", repr(error)


async def more() -> None:
    async with AsyncMemoryClient(api_key=os.environ["MEM0_API_KEY"], host=os.environ["MEM0_HOST"]) as other:
        await other.add("I play the cello", user_id=user, agent_id="music", infer=False)
        found = await other.search("cello", filters={"user_id": user})
        assert found["results"][0]["agent_id"] == "music", found


asyncio.run(more())
client.delete_all(user_id=user)
assert client.get_all(filters={"user_id": user})["results"] == []
assert user in [entity["name"] for entity in client.users()["results"]]
print("the script is done")
