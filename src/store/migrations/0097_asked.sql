-- What requests say about where a process is reached, which `doctor` compares with its settings
-- (src/process/asked.ts).
ALTER TABLE processes ADD COLUMN asked jsonb;
