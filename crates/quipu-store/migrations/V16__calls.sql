-- Chapter 16. What a model did with memory while it answered.
--
-- The calls of memory tools are noted with the retrieval they belong to: what was looked for, which
-- memories came of it, and how long it took. Words of memories are not among it, so that erasing one
-- need not look for them; what was looked for goes with the chat it was asked in.

grant update (trace, facts) on retrieval to quipu_serve;
