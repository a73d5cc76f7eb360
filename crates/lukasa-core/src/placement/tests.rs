//! Tests of the placement map, with random moves.

use super::*;

/// A generator of numbers, so that a failing case can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn user(byte: u8, rest: u64) -> UserId {
    UserId::from_uuid(Uuid::from_u64_pair(u64::from(byte) << 56 | rest >> 8, rest))
}

const CELLS: [&str; 3] = [MAIN_CELL, "east", "west"];

#[test]
fn placement_range_is_parsed_from_prefixes() {
    assert_eq!(UserRange::parse("00-ff"), Some(UserRange::ALL));
    assert_eq!(UserRange::parse("0-f"), Some(UserRange::ALL));
    let upper = UserRange::parse("80-ff").unwrap();
    assert!(upper.contains(user(0x80, 0)) && !upper.contains(user(0x7f, u64::MAX)));
    assert_eq!(UserRange::parse(&upper.to_string()), Some(upper));
    for bad in ["", "80", "ff-00", "8g-ff", "-", "80-ff-", &"0".repeat(40)] {
        assert_eq!(UserRange::parse(bad), None, "{bad}");
    }
}

#[test]
fn placement_with_a_gap_or_an_overlap_is_refused() {
    let placed = |range: &str| PlacedRange {
        tenant: None,
        range: UserRange::parse(range).unwrap(),
        cell: MAIN_CELL.to_owned(),
        moving_to: None,
        epoch: 1,
    };
    assert!(Placement::new(vec![placed("80-ff"), placed("00-7f")]).is_ok());
    for bad in [["00-7e", "80-ff"], ["00-80", "80-ff"], ["00-7f", "80-fe"]] {
        let ranges = bad.iter().map(|range| placed(range)).collect();
        assert_eq!(Placement::new(ranges), Err(PlacementError::Incomplete), "{bad:?}");
    }
    assert_eq!(Placement::new(Vec::new()), Ok(Placement::single()));
}

/// The cells that accept a user who has no rows anywhere, in the order in which a caller asks.
fn accepting(placement: &Placement, tenant: TenantId, user: UserId) -> Vec<String> {
    let route = placement.route(tenant, user);
    let steps = [Some((route.cell, 0)), route.then.map(|cell| (cell, route.epoch))];
    let accepts = |cell: &str, via: i64| {
        let held = placement.holdings(cell);
        let of = |wanted: Option<TenantId>| {
            held.iter().find(|h| h.tenant == wanted && h.range.contains(user))
        };
        of(Some(tenant)).or_else(|| of(None)).is_some_and(|held| match held.state {
            HoldingState::Held => true,
            HoldingState::Arriving => held.epoch == via,
            HoldingState::Leaving | HoldingState::Away => false,
        })
    };
    let steps = steps.into_iter().flatten();
    steps.filter(|(cell, via)| accepts(cell, *via)).map(|(cell, _)| cell.to_owned()).collect()
}

#[test]
fn placement_of_random_moves_has_one_cell_for_every_user() {
    for seed in 0..300 {
        let mut numbers = Numbers(seed);
        let mut placement = Placement::single();
        let tenants = [TenantId::named("a"), TenantId::named("b"), TenantId::named("c")];
        for _ in 0..12 {
            let tenant = (numbers.below(3) == 0).then(|| tenants[numbers.below(2) as usize]);
            let (one, other) = (numbers.below(256), numbers.below(256));
            let text = format!("{:02x}-{:02x}", one.min(other), one.max(other));
            let range =
                if tenant.is_some() { UserRange::ALL } else { UserRange::parse(&text).unwrap() };
            let to = CELLS[numbers.below(3) as usize];
            let before = placement.clone();
            match placement.begin_move(tenant, range, None, to) {
                Ok(next) => placement = next,
                Err(error) => assert_ne!(error, PlacementError::Incomplete, "seed {seed}"),
            }
            let pending: Vec<PlacedRange> =
                placement.ranges().iter().filter(|r| r.moving_to.is_some()).cloned().collect();
            for moved in pending {
                if numbers.below(4) > 0 {
                    placement = placement.finish_move(&moved);
                }
            }
            assert_eq!(Placement::new(placement.ranges().to_vec()).as_ref(), Ok(&placement));
            assert!(placement.epoch() >= before.epoch());
            for _ in 0..20 {
                let user = user(numbers.below(256) as u8, numbers.below(u64::MAX));
                for tenant in tenants {
                    let cells = accepting(&placement, tenant, user);
                    assert_eq!(cells.len(), 1, "seed {seed}: {user} in {cells:?}, {placement:?}");
                }
            }
        }
    }
}

#[test]
fn placement_move_is_continued_reversed_and_finished() {
    let range = UserRange::parse("80-ff").unwrap();
    let started = Placement::single().begin_move(None, range, Some(MAIN_CELL), "east").unwrap();
    assert_eq!(started.begin_move(None, range, Some(MAIN_CELL), "east"), Ok(started.clone()));
    assert_eq!(
        started.begin_move(None, range, Some(MAIN_CELL), "west"),
        Err(PlacementError::Moving)
    );
    let route = started.route(TenantId::SHARED, user(0x90, 1));
    assert_eq!((route.cell, route.then), (MAIN_CELL, Some("east")));
    let back = started.begin_move(None, range, Some("east"), MAIN_CELL).unwrap();
    let route = back.route(TenantId::SHARED, user(0x90, 1));
    assert_eq!((route.cell, route.then), ("east", Some(MAIN_CELL)));
    assert!(route.epoch > started.epoch());
    let moving = back.ranges().iter().find(|r| r.moving_to.is_some()).unwrap().clone();
    let done = back.finish_move(&moving);
    assert!(!done.is_moving());
    assert_eq!(done.ranges().len(), 1, "neighbours in the same cell are one range");
    assert_eq!(done.begin_move(None, range, Some("east"), MAIN_CELL), Err(PlacementError::Nothing));
}

#[test]
fn pinned_tenant_is_in_its_cell_alone() {
    let tenant = TenantId::named("resident");
    let pinned =
        Placement::single().begin_move(Some(tenant), UserRange::ALL, None, "east").unwrap();
    let moving = pinned.ranges().iter().find(|r| r.moving_to.is_some()).unwrap().clone();
    let pinned = pinned.finish_move(&moving);
    let (user, other) = (user(0x10, 7), TenantId::named("other"));
    assert_eq!(pinned.route(tenant, user).cell, "east");
    assert_eq!(pinned.route(other, user).cell, MAIN_CELL);
    // A common range that moves leaves the tenant where it is.
    let moved = pinned.begin_move(None, UserRange::ALL, None, "west").unwrap();
    assert_eq!(moved.route(tenant, user), pinned.route(tenant, user));
    for cell in [MAIN_CELL, "west"] {
        let held = moved.holdings(cell);
        let away = held.iter().find(|held| held.tenant == Some(tenant)).unwrap();
        assert_eq!(away.state, HoldingState::Away, "{cell}");
    }
}
