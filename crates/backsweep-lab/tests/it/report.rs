//! The page is complete, safe, the same each time, and fetches nothing.

use crate::made_up::complete;
use backsweep_lab::figures::pictures;
use backsweep_lab::method::Method;
use backsweep_lab::report::html;
use backsweep_lab::result::{ExperimentInfo, Results};
use backsweep_lab::verdict::judge;

fn page(results: &Results) -> String {
    let facts = [("peak memory".to_string(), "<b>12 MB</b>".to_string())];
    html(results, &pictures(results), &judge(results), &facts)
}

#[test]
fn it_holds_verdicts_figures_tables_and_settings() {
    let page = page(&complete());
    for wanted in [
        "id=\"verdict\"",
        "Published numbers: 13 hold",
        "Moore &amp; Atkeson",
        "<svg",
        "Table 1",
        "seed",
        "peak memory",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert_eq!(page.matches("<svg").count(), 7);
    for tag in ["table", "tr", "td", "th", "figure", "details", "svg", "div", "span", "main"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    assert!(!page.contains("NaN"));
}

#[test]
fn what_does_not_hold_is_explained_and_a_quick_look_says_what_it_is() {
    let mut results = complete();
    assert!(!page(&results).contains("class=\"banner\""));
    assert!(!page(&results).contains("class=\"why\""));
    results.summaries.iter_mut().filter(|s| s.key.matches("fig3/moore_atkeson")).for_each(|s| s.mean = -50.0);
    results.experiments.iter_mut().for_each(|info| info.runs = 8);
    let page = page(&results);
    assert!(page.contains("<p class=\"why\">Not explained: an independent implementation gives our scores"));
    for wanted in ["A quick look, not a reproduction", "8 runs, where the paper has 100", "not to be cited"] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[test]
fn it_is_the_same_each_time() {
    assert_eq!(page(&complete()), page(&complete()));
}

#[test]
fn it_fetches_nothing_and_runs_nothing() {
    let page = page(&complete()).replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for forbidden in
        ["http:", "https:", "<script", "<link", "<img", " src=", "@import", "url(\"", "javascript:"]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn ids_are_given_once() {
    let page = page(&complete());
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn text_of_a_user_stays_text() {
    let hostile = "</pre><script>alert('x')</script>\n\"&<";
    let tasks = vec![("fifteen".to_string(), hostile.to_string())];
    let info = ExperimentInfo {
        name: "fig3".into(),
        title: hostile.into(),
        runs: 2,
        text: hostile.into(),
        tasks,
        ..ExperimentInfo::default()
    };
    let mut results = complete();
    results.version = hostile.to_string();
    results.experiments = vec![info];
    for summary in &mut results.summaries {
        summary.key.method = Method::from(format!("{}<i>", summary.key.method).as_str());
    }
    let page = page(&results);
    assert!(!page.contains("<script") && !page.contains("<i>") && !page.contains("<b>12"));
    assert!(
        page.contains("&lt;/pre&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\n&quot;&amp;&lt;"),
        "line breaks stay"
    );
}

#[test]
fn results_without_the_papers_experiments_have_no_verdict() {
    let mut results = Results { version: "0.1.0".into(), ..Results::default() };
    assert!(!page(&results).contains("Verdict"));
    assert!(page(&results).contains("Nothing was measured"));
    let info = ExperimentInfo {
        name: "mine".into(),
        title: "My cliff".into(),
        runs: 1,
        ..ExperimentInfo::default()
    };
    results.experiments.push(info);
    assert!(page(&results).contains("<h1>My cliff</h1>"));
}

#[test]
fn numbers_that_are_not_finite_are_dashes() {
    let mut results = complete();
    results.summaries.iter_mut().for_each(|summary| (summary.mean, summary.low) = (f64::NAN, f64::INFINITY));
    results.timings.iter_mut().for_each(|timing| timing.high = f64::NAN);
    let page = page(&results);
    assert!(!page.contains("NaN") && !page.contains(">inf"));
}
