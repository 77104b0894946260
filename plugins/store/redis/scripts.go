package redis

import (
	_ "embed"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

var (
	//go:embed lua/head.lua
	luaHead string
	//go:embed lua/seal.lua
	luaSeal string
	//go:embed lua/index.lua
	luaIndex string
	//go:embed lua/feed.lua
	luaFeed string
	//go:embed lua/create.lua
	luaCreate string
	//go:embed lua/swap.lua
	luaSwap string
	//go:embed lua/delete.lua
	luaDelete string
	//go:embed lua/list.lua
	luaList string
	//go:embed lua/note.lua
	luaNote string
	//go:embed lua/forget.lua
	luaForget string
	//go:embed lua/poll.lua
	luaPoll string
)

// The scripts. Each is atomic on the keys of one slot.
var (
	scriptCreate  = redisconn.NewScript(luaHead + luaSeal + luaIndex + luaFeed + luaCreate)
	scriptSwap    = redisconn.NewScript(luaHead + luaSeal + luaIndex + luaSwap)
	scriptDelete  = redisconn.NewScript(luaHead + luaSeal + luaDelete)
	scriptNote    = redisconn.NewScript(luaHead + luaIndex + luaNote)
	scriptList    = redisconn.NewScript(luaList)
	scriptForget  = redisconn.NewScript(luaHead + luaIndex + luaForget)
	scriptPoll    = redisconn.NewScript(luaPoll)
	scriptConfirm = redisconn.NewScript(luaSeal + "seal(KEYS[1]) return 1")
	scriptProbe   = redisconn.NewScript("redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) return 1")
)
