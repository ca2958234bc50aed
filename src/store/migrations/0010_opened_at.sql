-- The address at which signed-in people last opened the dashboard of a process, which `doctor`
-- compares with BASE_URL (src/store/processes.ts).
ALTER TABLE processes ADD COLUMN opened_at text;
