import Testing

@testable import AlcedoDownloader

@Suite struct RetryBudgetTests {
    /// Returns the number of retries that are available now.
    private func drain(_ budget: RetryBudget, at now: Duration) -> Int {
        var count = 0
        while count < 1_000, budget.withdraw(at: now) { count += 1 }
        return count
    }

    @Test func `a full budget can be spent once`() {
        let budget = RetryBudget(share: 0.2, perSecond: 0, burst: 7)
        #expect(drain(budget, at: .zero) == 7)
        #expect(drain(budget, at: .seconds(1_000)) == 0)
    }

    @Test func `each first attempt adds its share to the budget`() {
        let budget = RetryBudget(share: 0.2, perSecond: 0, burst: 7)
        _ = drain(budget, at: .zero)
        for count in 1...100 {
            budget.deposit(at: .zero)
            #expect(budget.withdraw(at: .zero) == (count % 5 == 0))
        }
    }

    @Test func `a budget does not grow beyond its burst`() {
        let budget = RetryBudget(share: 1, perSecond: 1, burst: 3)
        for _ in 0..<100 { budget.deposit(at: .seconds(1_000)) }
        #expect(drain(budget, at: .seconds(1_000)) == 3)
        #expect(drain(budget, at: .seconds(9_000)) == 3)
    }

    @Test func `a budget grows slowly with time`() {
        let budget = RetryBudget(share: 0, perSecond: 0.5, burst: 2)
        _ = drain(budget, at: .seconds(10))
        #expect(drain(budget, at: .seconds(11)) == 0)
        #expect(drain(budget, at: .seconds(12)) == 1)
        #expect(drain(budget, at: .seconds(15)) == 1)
        #expect(drain(budget, at: .seconds(16)) == 1)
    }

    @Test func `a late clock reading does not add twice`() {
        let budget = RetryBudget(share: 0, perSecond: 1, burst: 5)
        _ = drain(budget, at: .seconds(10))
        #expect(drain(budget, at: .seconds(9)) == 0)
        #expect(drain(budget, at: .seconds(10)) == 0)
        #expect(drain(budget, at: .seconds(11)) == 1)
    }

    @Test func `invalid numbers allow no retry`() {
        for budget in [
            RetryBudget(share: -1, perSecond: -1, burst: -1), RetryBudget(share: .nan, perSecond: .nan, burst: 0),
        ] {
            budget.deposit(at: .seconds(1))
            #expect(!budget.withdraw(at: .seconds(1_000_000)))
        }
    }
}
