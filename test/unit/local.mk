# Unit tests: one cmocka program for each noun of the plain C code; test/unit/NOUN.c, linked with LDADD.
unit_programs = \
    test/unit/addr \
    test/unit/adrift \
    test/unit/authority_rotate \
    test/unit/autogroup \
    test/unit/budget \
    test/unit/caller \
    test/unit/cell \
    test/unit/cgroup \
    test/unit/candidate \
    test/unit/claim \
    test/unit/command \
    test/unit/commit \
    test/unit/components \
    test/unit/confine \
    test/unit/cores \
    test/unit/contention \
    test/unit/cycle \
    test/unit/table \
    test/unit/hash \
    test/unit/datagram \
    test/unit/decide \
    test/unit/draws \
    test/unit/edit \
    test/unit/elf \
    test/unit/diagnosis \
    test/unit/fate \
    test/unit/fetch \
    test/unit/input_window \
    test/unit/folder \
    test/unit/gather \
    test/unit/libraries \
    test/unit/pace \
    test/unit/pack \
    test/unit/packed \
    test/unit/pattern \
    test/unit/selection \
    test/unit/group \
    test/unit/greeting \
    test/unit/guard \
    test/unit/heartbeat \
    test/unit/home \
    test/unit/id \
    test/unit/names \
    test/unit/history \
    test/unit/hosts \
    test/unit/patience \
    test/unit/wait \
    test/unit/identity \
    test/unit/idmap \
    test/unit/input \
    test/unit/inquiry \
    test/unit/installed \
    test/unit/invitations \
    test/unit/kept \
    test/unit/keyfile \
    test/unit/keys \
    test/unit/head \
    test/unit/held \
    test/unit/acks \
    test/unit/far \
    test/unit/synchronous \
    test/unit/witness \
    test/unit/lag \
    test/unit/lock_queue \
    test/unit/pool \
    test/unit/lanes \
    test/unit/outside \
    test/unit/lease \
    test/unit/lend \
    test/unit/lending \
    test/unit/level \
    test/unit/link \
    test/unit/list \
    test/unit/listeners \
    test/unit/listening \
    test/unit/lived \
    test/unit/spin \
    test/unit/inner \
    test/unit/manifest \
    test/unit/match \
    test/unit/output_merge \
    test/unit/merge \
    test/unit/message \
    test/unit/backoff \
    test/unit/binaries \
    test/unit/nodelay \
    test/unit/notice \
    test/unit/odds \
    test/unit/outputs \
    test/unit/processors \
    test/unit/rate_limit \
    test/unit/session_keys \
    test/unit/placed \
    test/unit/plug_ins \
    test/unit/policy \
    test/unit/progress \
    test/unit/writer \
    test/unit/pressure \
    test/unit/program \
    test/unit/borrow \
    test/unit/broker \
    test/unit/ports \
    test/unit/refusal \
    test/unit/infos \
    test/unit/renewal \
    test/unit/recent \
    test/unit/request \
    test/unit/reservations \
    test/unit/ring \
    test/unit/revocation \
    test/unit/require \
    test/unit/participants \
    test/unit/room \
    test/unit/sightings \
    test/unit/rotation \
    test/unit/rotation_links \
    test/unit/roster \
    test/unit/aead \
    test/unit/search \
    test/unit/vnodes \
    test/unit/settings \
    test/unit/share \
    test/unit/size \
    test/unit/store \
    test/unit/store_files \
    test/unit/churn \
    test/unit/terms \
    test/unit/text \
    test/unit/token \
    test/unit/top \
    test/unit/place_updates \
    test/unit/trust \
    test/unit/upper \
    test/unit/uri \
    test/unit/sockets \
    test/unit/transport \
    test/unit/turn \
    test/unit/biased_lock \
    test/unit/version \
    test/unit/view \
    test/unit/vivaldi \
    test/unit/web_keys \
    test/unit/web_request \
    test/unit/web_state \
    test/unit/window \
    test/unit/decision
test_unit_placed_LDADD = libsurvive.la $(LDADD)
test_unit_fate_LDADD = libsurvive.la $(LDADD)
test_unit_input_window_LDADD = libsurvive.la $(LDADD)
test_unit_heartbeat_LDADD = libsurvive.la $(LDADD)
test_unit_output_merge_LDADD = libsurvive.la $(LDADD)
test_unit_processors_LDADD = libsurvive.la $(LDADD)
test_unit_rate_limit_LDADD = libsurvive.la $(LDADD)
test_unit_place_updates_LDADD = libsurvive.la $(LDADD)
test_unit_participants_LDADD = libsurvive.la $(LDADD)
test_unit_level_LDADD = libsurvive.la $(LDADD)
test_unit_draws_LDADD = libdraws.la $(LDADD)
test_unit_kept_SOURCES = test/unit/kept.c test/wire/kept.c test/wire/kept.h
test_unit_store_files_LDADD = $(daemon_libraries) $(LDADD)
test_unit_pack_LDADD = $(daemon_libraries) $(LDADD)
test_unit_packed_LDADD = $(daemon_libraries) $(LDADD)
test_unit_version_LDADD = $(daemon_libraries) $(LDADD)
test_unit_addr_LDADD = $(daemon_libraries) $(LDADD)
test_unit_caller_LDADD = $(daemon_libraries) $(LDADD)
test_unit_cgroup_LDADD = $(daemon_libraries) $(LDADD)
test_unit_refusal_LDADD = $(daemon_libraries) $(LDADD)
test_unit_identity_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS)
test_unit_idmap_LDADD = $(daemon_libraries) $(LDADD)
test_unit_keyfile_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS)
test_unit_installed_LDADD = $(daemon_libraries) $(LDADD)
test_unit_inquiry_LDADD = $(daemon_libraries) $(LDADD)
test_unit_invitations_LDADD = $(daemon_libraries) $(LDADD)
test_unit_renewal_LDADD = $(daemon_libraries) $(LDADD)
test_unit_revocation_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS)
test_unit_rotation_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS)
test_unit_rotation_links_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS)
test_unit_authority_rotate_LDADD = $(daemon_libraries) $(LDADD) $(OPENSSL_LIBS)
test_unit_token_LDADD = $(daemon_libraries) $(LDADD)
test_unit_uri_LDADD = $(daemon_libraries) $(LDADD)
test_unit_lending_LDADD = $(daemon_libraries) $(LDADD)
test_unit_manifest_LDADD = $(daemon_libraries) $(LDADD)
test_unit_link_LDADD = $(daemon_libraries) $(LDADD)
test_unit_pace_LDADD = $(daemon_libraries) $(LDADD)
test_unit_session_keys_LDADD = $(daemon_libraries) $(LDADD)
test_unit_pressure_LDADD = $(daemon_libraries) $(LDADD)
test_unit_datagram_LDADD = $(daemon_libraries) $(LDADD)
test_unit_cores_LDADD = $(daemon_libraries) $(LDADD)
test_unit_settings_LDADD = $(daemon_libraries) $(LDADD)
test_unit_edit_LDADD = $(daemon_libraries) $(LDADD)
test_unit_terms_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
test_unit_terms_LDADD = $(daemon_libraries) $(LDADD) $(JANSSON_LIBS)
test_unit_autogroup_LDADD = libconfine.la $(LDADD)
test_unit_lanes_LDADD = libconfine.la $(LDADD)
test_unit_outside_LDADD = libconfine.la $(LDADD)
test_unit_view_LDADD = libconfine.la $(LDADD)
test_unit_confine_LDADD = libconfine.la $(LDADD)
test_unit_listening_LDADD = $(daemon_libraries) $(LDADD)
test_unit_broker_LDADD = libconfine.la $(LDADD)
test_unit_cycle_LDADD = libreplica.la $(LDADD)
test_unit_hash_LDADD = libreplica.la $(LDADD)
test_unit_table_LDADD = libreplica.la $(LDADD)
test_unit_decide_LDADD = libreplica.la $(LDADD)
test_unit_match_LDADD = libreplica.la $(LDADD)
test_unit_decision_LDADD = libreplica.la $(LDADD)
test_unit_held_LDADD = libreplica.la $(LDADD)
test_unit_far_LDADD = libreplica.la $(LDADD)
test_unit_head_LDADD = libreplica.la $(LDADD)
test_unit_synchronous_LDADD = libreplica.la $(LDADD)
test_unit_acks_LDADD = libreplica.la $(LDADD)
test_unit_witness_LDADD = libreplica.la $(LDADD)
test_unit_lag_LDADD = libreplica.la $(LDADD)
test_unit_pool_LDADD = libreplica.la $(LDADD)
test_unit_turn_LDADD = libtransport.la $(LDADD)
test_unit_sockets_LDADD = libtransport.la $(LDADD)
test_unit_transport_LDADD = libtransport.la $(LDADD)
test_unit_components_SOURCES = test/unit/components.c overlay/sandbox/components.c
test_unit_components_CPPFLAGS = $(AM_CPPFLAGS) \
    -DCOMPONENTDIR='"/nonexistent"' -DCOMPONENT_FILES='"one.so two.so"'
test_unit_home_SOURCES = test/unit/home.c overlay/base/file_at.c src/pml_replica/file/home.c src/pml_replica/file/batch.c \
    src/pml_replica/file/view_name.c
test_unit_budget_SOURCES = test/unit/budget.c src/pml_replica/window/budget.c
test_unit_lock_queue_SOURCES = test/unit/lock_queue.c src/pml_replica/window/lock_queue.c
test_unit_contention_SOURCES = test/unit/contention.c src/pml_replica/wait/contention.c
test_unit_spin_SOURCES = test/unit/spin.c src/pml_replica/wait/spin.c
test_unit_backoff_SOURCES = test/unit/backoff.c src/pml_replica/wait/backoff.c src/pml_replica/wait/contention.c
test_unit_biased_lock_SOURCES = test/unit/biased_lock.c src/pml_replica/wait/biased_lock.c
test_unit_greeting_LDADD = libtransport.la $(SODIUM_LIBS) $(LDADD)
test_unit_aead_LDADD = libtransport.la $(LDADD)
test_unit_odds_SOURCES = test/unit/odds.c overlay/tools/odds.c
test_unit_odds_LDADD = $(LDADD) -lm
test_unit_keys_SOURCES = test/unit/keys.c src/pmix_server/keys.c
test_unit_keys_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS)
test_unit_infos_SOURCES = test/unit/infos.c src/pmix_server/infos.c
test_unit_infos_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS)
test_unit_infos_LDADD = $(LDADD) $(PMIX_LIBS)
test_unit_notice_LDADD = $(daemon_libraries) $(LDADD)
test_unit_reservations_LDADD = $(daemon_libraries) $(LDADD) $(SODIUM_LIBS) $(LIBEVENT_LIBS)
test_unit_roster_LDADD = $(daemon_libraries) $(LDADD)
test_unit_churn_LDADD = $(daemon_libraries) $(LDADD)
test_unit_room_LDADD = $(daemon_libraries) $(LDADD)
test_unit_command_LDADD = libruntime.la $(LDADD)
test_unit_guard_LDADD = libruntime.la $(LDADD)
test_unit_trust_LDADD = libruntime.la $(LDADD)
test_unit_commit_LDADD = libruntime.la $(LDADD)
test_unit_nodelay_LDADD = libruntime.la $(LDADD)
test_unit_plug_ins_LDADD = libruntime.la $(LDADD)
test_unit_listeners_LDADD = libruntime.la $(LDADD)
test_unit_selection_LDADD = libruntime.la $(LDADD)
test_unit_policy_LDADD = libruntime.la $(LDADD)
# What p2pctl top shows, without the terminal and without the daemon.
test_unit_top_SOURCES = test/unit/top.c overlay/tools/all_jobs.c overlay/tools/print_json.c overlay/tools/moment.c overlay/tools/own_jobs.c \
    overlay/tools/tool.c overlay/top/page.c overlay/top/part.c overlay/top/part_jobs.c overlay/top/part_peers.c \
    overlay/top/sheet.c overlay/top/state.c overlay/top/view.c
test_unit_top_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
test_unit_top_LDADD = $(daemon_libraries) $(LDADD) $(JANSSON_LIBS)
test_unit_diagnosis_SOURCES = test/unit/diagnosis.c overlay/tools/diagnosis.c
test_unit_history_LDADD = $(daemon_libraries) $(LDADD)
test_unit_outputs_LDADD = $(daemon_libraries) $(LDADD)
test_unit_sightings_LDADD = $(daemon_libraries) $(LDADD)
test_unit_hosts_LDADD = libruntime.la $(LDADD)
test_unit_patience_LDADD = libruntime.la $(LDADD)
test_unit_request_LDADD = libruntime.la $(LDADD)
test_unit_progress_LDADD = libruntime.la $(LDADD)
test_unit_vnodes_LDADD = libruntime.la $(LDADD)
if HAVE_CMOCKA
UNIT += $(unit_programs)
endif
EXTRA_PROGRAMS += $(unit_programs)
UNIT += test/unit/core_symbols
EXTRA_DIST += test/unit/act.h test/unit/core_symbols test/unit/handshake.h test/unit/made_elf.h test/unit/rotation.h test/unit/temporary.h
test_unit_web_keys_LDADD = $(daemon_libraries) $(LDADD) $(SODIUM_LIBS)
test_unit_web_request_LDADD = $(daemon_libraries) $(LDADD)
test_unit_web_state_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
test_unit_web_state_LDADD = $(daemon_libraries) $(LDADD) $(JANSSON_LIBS)
