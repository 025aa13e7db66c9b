// The checks of the admin API.
#pragma once

namespace compat {

void admin_topics();
void admin_configs();
void admin_groups();
void admin_offsets();
void admin_delete_records();

}  // namespace compat
