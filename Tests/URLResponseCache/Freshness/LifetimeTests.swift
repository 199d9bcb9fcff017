import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 section 4.2.1: the lifetime that the server names.
@Suite(.timeLimit(.minutes(10)))
struct LifetimeTests {
    @Test(
        arguments: Roles.all,
        [
            FreshnessRow(["Cache-Control": "max-age=60"], after: 0, .both),
            FreshnessRow(["Cache-Control": "max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60"], after: 60, .neither),
            FreshnessRow(["Cache-Control": "max-age=0"], after: 0, .neither),
            FreshnessRow(["Cache-Control": "max-age=\"60\""], after: 59, .both),
            FreshnessRow(["Cache-Control": "MAX-AGE=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60, unknown=\"x, no-store\""], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=99999999999999999999"], after: 1_000_000_000, .both),
            FreshnessRow(["Cache-Control": "max-age=60, max-age=10"], after: 1, .neither),
            FreshnessRow(["Cache-Control": "max-age=60, max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "cache-control": "public"], after: 59, .both),
            FreshnessRow(["Cache-Control": "public", "CACHE-CONTROL": "max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=x"], after: 0, .neither),
            FreshnessRow(["Cache-Control": "max-age=-1"], after: 0, .neither),
            FreshnessRow(["Cache-Control": "max-age=1.5"], after: 0, .neither),
            FreshnessRow(["Cache-Control": "max-age"], after: 0, .neither),
            // s-maxage applies to shared caches and takes precedence over max-age there.
            FreshnessRow(["Cache-Control": "s-maxage=60"], after: 59, .sharedOnly),
            FreshnessRow(["Cache-Control": "s-maxage=60"], after: 60, .neither),
            FreshnessRow(["Cache-Control": "s-maxage=1, max-age=60"], after: 59, .privateOnly),
            FreshnessRow(["Cache-Control": "s-maxage=60, max-age=1"], after: 59, .sharedOnly),
            FreshnessRow(["Cache-Control": "max-age=1, S-MaxAge=60"], after: 59, .sharedOnly),
            FreshnessRow(["Cache-Control": "s-maxage=x, max-age=60"], after: 1, .privateOnly),
            FreshnessRow(["Cache-Control": "s-maxage=0, max-age=60"], after: 0, .privateOnly),
            // Both take precedence over Expires (section 5.3).
            FreshnessRow(["Cache-Control": "max-age=10", "Expires": date(60)], after: 11, .neither),
            FreshnessRow(["Cache-Control": "max-age=60", "Expires": date(10)], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Expires": "0"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=x", "Expires": date(60)], after: 1, .neither),
            FreshnessRow(["Cache-Control": "s-maxage=60", "Expires": date(-1)], after: 59, .sharedOnly),
            FreshnessRow(["Cache-Control": "public", "Expires": date(60)], after: 59, .both),
            // There is no lifetime and no basis for a heuristic.
            FreshnessRow([:], after: 0, .neither),
            FreshnessRow(["Cache-Control": "public"], after: 0, .neither),
        ])
    func `a response is served for its freshness lifetime`(role: CacheRole, row: FreshnessRow) async throws {
        try await row.check(in: role)
    }

    @Test(
        arguments: Roles.all,
        [
            FreshnessRow(["Expires": date(60), "Date": date(0)], after: 59, .both),
            FreshnessRow(["Expires": date(60), "Date": date(0)], after: 60, .neither),
            FreshnessRow(["Expires": date(60)], after: 59, .both),
            FreshnessRow(["Expires": date(60)], after: 60, .neither),
            // The difference to Date counts, not the local clock.
            FreshnessRow(["Expires": date(160), "Date": date(100)], after: 59, .both),
            FreshnessRow(["Expires": date(160), "Date": date(100)], after: 60, .neither),
            // The three forms: Tue, 14 Nov 2023 22:14:20 GMT.
            FreshnessRow(["Expires": "Tue, 14 Nov 2023 22:14:20 GMT"], after: 59, .both),
            FreshnessRow(["Expires": "Tuesday, 14-Nov-23 22:14:20 GMT"], after: 59, .both),
            FreshnessRow(["Expires": "Tuesday, 14-Nov-23 22:14:20 GMT"], after: 60, .neither),
            FreshnessRow(["Expires": "Tue Nov 14 22:14:20 2023"], after: 59, .both),
            FreshnessRow(["Expires": "Tue Nov 14 22:14:20 2023"], after: 60, .neither),
            // An invalid date has expired.
            FreshnessRow(["Expires": "0"], after: 0, .neither),
            FreshnessRow(["Expires": "-1"], after: 0, .neither),
            FreshnessRow(["Expires": ""], after: 0, .neither),
            FreshnessRow(["Expires": "tomorrow"], after: 0, .neither),
            FreshnessRow(["Expires": "Tue, 14 Nov 2023 22:14:20"], after: 0, .neither),
            FreshnessRow(["Expires": "Tue, 14 Nov 2023 22:14:20 CET"], after: 0, .neither),
            FreshnessRow(["Expires": "Tue, 30 Feb 2024 22:14:20 GMT"], after: 0, .neither),
            FreshnessRow(["Expires": "Tue, 14 Nov 99999 22:14:20 GMT"], after: 0, .neither),
            FreshnessRow(["Expires": date(0), "Date": date(0)], after: 0, .neither),
            FreshnessRow(["Expires": date(-60), "Date": date(0)], after: 0, .neither),
            FreshnessRow(["Expires": "Fri, 31 Dec 9999 23:59:59 GMT"], after: 1_000_000_000, .both),
            // Two lines are invalid.
            FreshnessRow(["Expires": date(60), "expires": date(60)], after: 1, .neither),
            // An invalid Expires precludes heuristics.
            FreshnessRow(["Expires": "0", "Last-Modified": date(-10_000)], after: 1, .neither),
        ])
    func `Expires is parsed in three forms, and an invalid date has expired`(
        role: CacheRole, row: FreshnessRow
    ) async throws {
        try await row.check(in: role)
    }
}
